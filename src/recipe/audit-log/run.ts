/** The audit of one log file from what a user asks for: who judges, by which matcher, with which references and sources. */
import { dirname, join } from 'node:path';
import { goldAuditor } from '../../auditor/gold.ts';
import { judgeAuditor } from '../../auditor/judge/judge.ts';
import { selfTest } from '../../auditor/judge/self-test.ts';
import type { Chat } from '../../chat.ts';
import { cover } from '../../matcher/cover.ts';
import { exact } from '../../matcher/exact.ts';
import { type CachedChat, cachedChat } from '../../matcher/judge/cache.ts';
import { judgeMatcher } from '../../matcher/judge.ts';
import type { Matcher } from '../../matcher.ts';
import { readSources } from '../../retriever/corpus/read.ts';
import { leftOut, newReport } from '../../retriever/corpus/report.ts';
import { UserError } from '../../util/error.ts';
import { auditLog, type LogAudit } from './audit.ts';
import { parseMap } from './fields.ts';
import { type Log, readLog } from './read.ts';
import { openReferences } from './references.ts';
import type { Extract } from './value.ts';

export const LOG_MATCHERS = ['exact', 'cover', 'judge'] as const;

export interface LogAuditSettings {
  readonly file: string;
  /** "meaning=field" each. */
  readonly map: readonly string[];
  readonly extract: Extract;
  readonly strict: boolean;
  /** File of questions with right answers. */
  readonly references: string | null;
  readonly matcher: (typeof LOG_MATCHERS)[number];
  /** The judge; null for the auditor `gold`. */
  readonly judge: Chat | null;
  /** Corpus of the source texts. */
  readonly sources: string | null;
  /** Folder for the judge's replies; default: beside the log. */
  readonly cache: string | null;
}

export interface Listener {
  /** What goes on. */
  note(text: string): void;
  warn(text: string): void;
  /** Questions judged. */
  judged(done: number, total: number): void;
}

/** UserError: settings that cannot be, a log that cannot be read, a judge that fails its self-test. InfraError: it is away. */
export async function auditLogFile(settings: LogAuditSettings, listener: Listener): Promise<LogAudit> {
  const { file, judge, cache } = settings;
  if (settings.matcher === 'judge' && judge === null)
    throw new UserError('--matcher judge needs --judge and --judge-model');
  const log = await readTheLog(settings, listener);
  const chat = judge === null ? null : await cachedChat(judge, cache ?? join(dirname(file), 'judge-cache'));
  try {
    return await judged(log, chat, settings, listener);
  } finally {
    await chat?.close();
  }
}

async function readTheLog(settings: LogAuditSettings, { note }: Listener): Promise<Log> {
  const { file, map, extract, strict } = settings;
  const mapping = parseMap(map);
  const references = settings.references === null ? null : await openReferences(settings.references);
  note(`reading ${file}`);
  return readLog(file, {
    mapping,
    extract,
    strict,
    references: references?.find ?? null,
    judged: settings.judge !== null,
    progress: (rows) => note(`reading ${file}: ${rows} rows`),
  });
}

async function judged(
  log: Log,
  chat: CachedChat | null,
  settings: LogAuditSettings,
  listener: Listener,
): Promise<LogAudit> {
  const matcher = matcherOf(settings, chat);
  const gold = goldAuditor(matcher);
  if (chat === null || settings.judge === null)
    return auditLog(log, { auditor: gold, matcher, judge: null, progress: listener.judged });
  listener.note(`self-test of ${chat.name}`);
  // Not from the cache: the server of today is tested.
  await selfTest(settings.judge, { auditor: true, matcher: settings.matcher === 'judge' });
  const texts = settings.sources === null ? new Map<string, string>() : await textsOf(settings.sources, log, listener);
  const auditor = judgeAuditor({ chat, sourceText: (source) => texts.get(source) ?? null });
  // What the judge is measured against must not be the judge.
  const check = goldAuditor(exact);
  return auditLog(log, { auditor, matcher, judge: { gold: check, cost: chat.cost }, progress: listener.judged });
}

function matcherOf({ matcher, judge }: LogAuditSettings, chat: Chat | null): Matcher {
  switch (matcher) {
    case 'exact':
      return exact;
    case 'cover':
      return cover;
    case 'judge':
      return judgeMatcher(chat!, () => selfTest(judge!, { auditor: false, matcher: true }));
    default:
      return matcher satisfies never;
  }
}

/** Texts of the sources that the log names; the rest of the corpus streams by. */
async function textsOf(path: string, log: Log, { note, warn }: Listener): Promise<Map<string, string>> {
  note(`reading ${path}`);
  const wanted = new Set(log.steps.flatMap(({ questions }) => questions.map(({ source }) => source)));
  const texts = new Map<string, string>();
  const report = newReport();
  for await (const { id, title, text } of readSources(path, report))
    if (wanted.has(id)) texts.set(id, title === '' ? text : `${title}\n${text}`);
  const missing = leftOut(report, path);
  if (missing !== null) warn(missing);
  if (texts.size === 0)
    throw new UserError(
      `${path}: has none of the ${wanted.size} sources of the log (for example "${[...wanted][0]}"); --map source=FIELD must name ids of this corpus`,
    );
  if (texts.size < wanted.size) warn(`${path}: ${wanted.size - texts.size} of ${wanted.size} sources are not in it`);
  return texts;
}
