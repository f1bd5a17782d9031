/** One writer a run: a file that names its owner. A dead owner's lock is taken over. */
import { constants, copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf, diskError } from '../util/disk.ts';
import { UserError } from '../util/error.ts';
import { contentId } from '../util/id.ts';

interface Owner {
  readonly pid: number;
  readonly host: string;
  /** Start of the process as the system counts it: tells a reused pid apart. Empty where it cannot be read. */
  readonly start: string;
  readonly since: string;
}

/** @param elsewhere the option that names another place to write to. @throws UserError naming the live owner. Returns the release. */
export function acquireLock(path: string, elsewhere = '--run'): () => void {
  const owner: Owner = {
    pid: process.pid,
    host: hostname(),
    start: processStart(process.pid) ?? '',
    since: new Date().toISOString(),
  };
  const mine = JSON.stringify(owner);
  try {
    take(path, mine, elsewhere);
  } catch (error) {
    throw error instanceof UserError ? error : diskError(path, 'lock', error);
  }
  return () => {
    if (read(path) === mine) rmSync(path, { force: true });
  };
}

/**
 * Replacing a dead owner's lock happens under a second lock, so two newcomers cannot both replace it; whoever comes late
 * finds another text there. A crash in between leaves a dead second lock, which falls to the same rule.
 */
function take(path: string, mine: string, elsewhere: string): void {
  while (!create(path, mine)) {
    const theirs = read(path);
    if (theirs === null) continue;
    refuseIfAlive(path, theirs, elsewhere);
    const second = `${path}.dead`;
    take(second, mine, elsewhere);
    try {
      if (read(path) !== theirs) continue;
      const temporary = writeTemporary(path, mine);
      renameSync(temporary, path);
      return;
    } finally {
      rmSync(second, { force: true });
    }
  }
}

/** Makes the file with its text in one step, unless it exists. */
function create(path: string, mine: string): boolean {
  const temporary = writeTemporary(path, mine);
  try {
    link(temporary, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error;
    // File systems without hard links (FAT, some network mounts).
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

function writeTemporary(path: string, mine: string): string {
  const temporary = `${path}.${contentId(mine).slice(0, 8)}`;
  writeFileSync(temporary, mine);
  return temporary;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function refuseIfAlive(path: string, text: string, elsewhere: string): void {
  let owner: Partial<Owner>;
  try {
    owner = JSON.parse(text);
  } catch {
    return;
  }
  const { pid, host, start, since } = owner;
  if (typeof pid !== 'number' || host === undefined) return;
  if (host !== hostname()) {
    throw new UserError(
      `${path}: process ${pid} on host ${host} has been writing here since ${since}; if it is gone, delete this file`,
    );
  }
  const now = processStart(pid);
  if (now === null || (start && now && start !== now)) return;
  throw new UserError(
    `${path}: process ${pid} has been writing here since ${since}; wait for it, stop it, or use another ${elsewhere} folder`,
  );
}

/** Null for a process that is gone; empty when it lives but its start cannot be read. */
function processStart(pid: number): string | null {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return null;
  }
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
  // proc(5): after the bracketed name come state (field 3) … starttime (field 22).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? '');
}
