/**
 * The manifest on disk: a JSON Lines file that any tool reads, and beside it FILE.about.json with its hash, its counts and
 * where it came from. Any other file of questions can be read as a manifest too.
 */
import { basename } from 'node:path';
import { z } from 'zod';
import { exists, replaceFile } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { readText } from './load/bytes.ts';
import { type LoadReport, loadQuestions } from './load/questions.ts';
import { type Manifest, manifestLine, manifestOf, type Shortage } from './manifest.ts';
import { type Pools, stemOf } from './pool.ts';
import { setNamed } from './seven.ts';

const aboutFile = (path: string): string => `${path}.about.json`;

const aboutSchema = z.object({ hash: z.string() });

export async function writeManifest(
  path: string,
  manifest: Manifest,
  { reports, short }: { readonly reports: Pools['reports']; readonly short: readonly Shortage[] },
): Promise<void> {
  const about = {
    hash: manifest.hash,
    questions: manifest.questions.length,
    sets: manifest.counts,
    chosenBy: 'smallest SHA-256 of "eval200:" + id',
    short,
    // Names without their folders: the same files give the same bytes wherever they lie.
    files: reports.map((report) => ({ ...report, file: basename(report.file), example: null })),
  };
  await replaceFile(path, manifest.questions.map((question) => `${manifestLine(question)}\n`).join(''));
  await replaceFile(aboutFile(path), `${JSON.stringify(about, null, 2)}\n`);
}

export interface ReadManifest extends Manifest {
  readonly report: LoadReport;
}

/**
 * A manifest, or any file of questions (load/forms.ts), whose set is then named after the file. Throws UserError when the file
 * is not the one that its about file describes.
 */
export async function readManifest(path: string, form?: string): Promise<ReadManifest> {
  const stem = stemOf(path);
  const set = setNamed(stem)?.name ?? stem;
  const { questions, report } = await loadQuestions(path, { set, ...(form === undefined ? {} : { form }) });
  const manifest = manifestOf(questions);
  const about = aboutFile(path);
  if (await exists(about)) {
    const parsed = aboutSchema.safeParse(parsedJson(await readText(about)));
    if (parsed.data?.hash !== manifest.hash)
      throw new UserError(
        `${path}: its questions have the hash ${manifest.hash}, ${about} says ${parsed.data?.hash ?? 'nothing'}: it was changed since it was made. Make it again with "crossfold manifest", or remove ${basename(about)}.`,
      );
  }
  return { ...manifest, report };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
