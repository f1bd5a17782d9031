/** What the documents name exists: files, functions, tests and flags of docs/method.md, names of docs/glossary.md, links. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FEEDBACK_PLANS } from '../src/method/feedback.ts';
import { LABEL_RULES } from '../src/method/label.ts';
import { FIELDS } from '../src/recipe/fields.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const cellsOf = (line: string): string[] => line.split(/(?<!\\)\|/).map((cell) => cell.trim());
const quotedIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
const hasWord = (code: string, word: string): boolean =>
  new RegExp(`(?<![\\w$])${word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w$])`).test(code);

const METHOD = read('docs/method.md');
const RULES = METHOD.split('\n').flatMap((line) => {
  const [, number, rule, where, test] = cellsOf(line);
  return /^\d+\.\d+$/.test(number ?? '') ? [{ number: number!, rule: rule!, where: where!, test: test! }] : [];
});

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  '--feedback': Object.keys(FEEDBACK_PLANS),
  '--label': Object.keys(LABEL_RULES),
};

describe('docs/method.md', () => {
  it('numbers its rules without gaps', () => {
    expect(RULES.length).toBeGreaterThan(70);
    const next = new Map<string, number>();
    for (const { number } of RULES) {
      const [section, n] = number.split('.') as [string, string];
      expect(Number(n), number).toBe((next.get(section) ?? 0) + 1);
      next.set(section, Number(n));
    }
  });

  it.each(RULES)('$number points at code and tests that exist', ({ number, where, test }) => {
    let file = '';
    for (const name of quotedIn(where)) {
      if (name.endsWith('.ts')) {
        file = join('src', name);
        expect(existsSync(join(ROOT, file)), `${number}: ${file}`).toBe(true);
      } else expect(hasWord(read(file), name), `${number}: ${name} in ${file}`).toBe(true);
    }
    expect(file, number).not.toBe('');
    for (const name of quotedIn(test)) expect(existsSync(join(ROOT, 'test', name)), `${number}: ${name}`).toBe(true);
  });

  it('names flags that exist, with values they take', () => {
    for (const row of METHOD.slice(METHOD.indexOf('## Ablations'), METHOD.indexOf('## Coverage')).split('\n')) {
      const [first, ...values] = quotedIn(row);
      if (first === undefined) continue;
      const [flag, value] = first.split(' ') as [string, string];
      const field = FIELDS.find((known) => known.flag === flag);
      // Columns of the systems table are no settings of their own.
      const column = COLUMNS[flag];
      for (const typed of [value, ...values])
        expect(column?.includes(typed) ?? field?.schema.safeParse(field.read(typed)).success, `${flag} ${typed}`).toBe(
          true,
        );
    }
  });
});

describe('docs/glossary.md', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.ts'));
  const code = files.map((file) => read(join('src', file))).join('\n');
  const names = read('docs/glossary.md')
    .split('\n')
    .flatMap((line) => quotedIn(cellsOf(line)[3] ?? ''))
    .flatMap((quoted) => quoted.match(/[A-Za-z_][\w-]*/g) ?? []);

  it('uses names of the code', () => {
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !hasWord(code, name))).toEqual([]);
  });
});

describe('links between documents', () => {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.md'));
  const pages = ['README.md', ...docs.map((file) => join('docs', file))];
  it.each(pages)('of %s lead somewhere', (page) => {
    const targets = [...read(page).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!);
    for (const target of targets.filter((t) => !t.startsWith('http')))
      expect(existsSync(join(ROOT, dirname(page), target)), target).toBe(true);
  });
});
