/** The client on the server under test. */
import { memoryBlobs } from '../../src/cli/memory-blobs.ts';
import type { Engine } from '../../src/engine.ts';
import { openEngine } from '../../src/recipe/open-engine.ts';
import { RANK } from './server.ts';
import { POLICY } from './setup.ts';

/** SkyRL does not say how long sequences may be; its adapters have a rank that it was started with. */
export const engineName = (url: string): string => `tinker:${url}#rank=${RANK},context=320,deadline=600`;

export const engineOf = ({ url, base }: { readonly url: string; readonly base: string }): Promise<Engine> =>
  openEngine(engineName(url), { blobs: memoryBlobs(), workers: 1, base, tokenizer: POLICY, warn: console.warn });
