/** What reading question files found, dropped and repaired, in lines for a person. */
import type { Dropped, LoadNote, LoadReport } from '../../benchmark/load/questions.ts';
import { count } from '../format.ts';

const droppedText = {
  no_question: 'no question',
  no_gold: 'no gold that can be matched',
  unanswerable: 'marked unanswerable',
  duplicate: 'there already',
} satisfies Record<Dropped, string>;

export const noteText = {
  gold_was_bare_string: 'the gold is a bare string, taken as the one answer',
  gold_was_json_text: 'the gold is a JSON list inside a string, taken as the list',
  alias_without_words: 'an alias of punctuation alone is left out',
  id_made: 'no id, made from question and gold',
  id_renamed: 'the id belongs to another question, given one beside it',
} satisfies Record<LoadNote, string>;

/** What is ordinary is not worth a warning. */
const quiet: readonly LoadNote[] = ['id_made', 'alias_without_words'];

/** 2 rows left out (no gold that can be matched: 2); null when all were used. */
export function droppedLine({ dropped, example }: LoadReport): string | null {
  const parts = (Object.keys(droppedText) as Dropped[]).filter((why) => dropped[why] > 0);
  if (parts.length === 0) return null;
  const sum = parts.reduce((total, why) => total + dropped[why], 0);
  const each = parts.map((why) => `${droppedText[why]}: ${count(dropped[why])}`).join(', ');
  return `${count(sum)} left out (${each}), for example ${example?.replace(/: \w+$/, '')}`;
}

/** A line a kind of repair that a person should know of. */
export const warningLines = ({ file, notes }: LoadReport): string[] =>
  (Object.entries(notes) as [LoadNote, number][])
    .filter(([note]) => !quiet.includes(note))
    .map(([note, n]) => `${file}: in ${count(n)} rows ${noteText[note]}`);
