/** Before all suites: SkyRL is installed and started, or the reason why not is printed and every suite is skipped. */
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { TestProject } from 'vitest/node';
import { skyrlEnvironment } from './install.ts';
import { startSkyrl } from './server.ts';

export type Skyrl = { readonly url: string; readonly base: string } | { readonly missing: string };

declare module 'vitest' {
  export interface ProvidedContext {
    skyrl: Skyrl;
  }
}

export const POLICY = resolve(import.meta.dirname, '../../policies/mini');

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const environment = await skyrlEnvironment();
  if ('missing' in environment) {
    console.warn(`Skipped: ${environment.missing}`);
    project.provide('skyrl', environment);
    return async () => {};
  }
  const log = join(tmpdir(), 'crossfold-skyrl.log');
  console.log(`Starting SkyRL; what it prints is in ${log}`);
  const { url, base, stop } = await startSkyrl(environment, POLICY, log);
  project.provide('skyrl', { url, base });
  return stop;
}
