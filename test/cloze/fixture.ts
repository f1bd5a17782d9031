/** Invented text for the cloze tests, and a small vocabulary trained on it. */
import { trainBpe } from '../../src/text/bpe.ts';
import { CLOZE_TAGS } from '../../src/text/dialect/cloze.ts';
import { tokenizerFrom } from '../../src/text/tokenizer.ts';
import type { Source } from '../../src/types.ts';

export const islands: Source = {
  id: 'islands',
  title: 'Islands of Sund',
  text: [
    'The island of Brannholm lies north of Sund and was settled in 1482 by fishermen from Askevik. Its lighthouse (built in',
    '1851) was drawn by Mr. Edvard Lunde, who later moved to Torsby. A ferry leaves Kalla at 9 and reaches Brannholm before noon.',
    '',
    'Every spring about 3,400 geese rest on the meadows near Askevik. The count began on 4 May 1963 and has been repeated',
    'each year by Marta Ekdahl and her pupils, who publish it in the "Sund Courier" and read it aloud in Torsby.',
  ].join('\n'),
};

export const manual: Source = {
  id: 'manual',
  title: 'Pantry manual',
  text: [
    '# Pantry',
    '',
    'Call `open_pantry` with a `Shelf` to list what is stored, and pass `strict=True` when a missing jar should raise `JarError`.',
    '',
    '```python',
    'open_pantry(Shelf("jam"))',
    '```',
    '',
    '* Since version 2.4 the **pantry** keeps its index in [SQLite](https://example.org) instead of plain files on disk.',
    '* Jars have lids.',
    '',
    '| name | size |',
    '|------|------|',
  ].join('\n'),
};

export const sources = [islands, manual];

const files = trainBpe(
  sources.flatMap((source) => [source.text, source.text, ` ${source.text}`]),
  { size: 400, control: CLOZE_TAGS, minCount: 2 },
);
export const tokenizer = tokenizerFrom(files['tokenizer.json'], files['tokenizer_config.json']);
