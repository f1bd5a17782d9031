/** What differs between servers of the Tinker wire, one row each. A row is found out at the start or named by the user. */
import type { Loss } from '../../../engine.ts';
import { UserError } from '../../../util/error.ts';

export interface Profile {
  /** How forward and forward_backward travel. */
  readonly encoding: 'json' | 'proto';
  /** Must there be a key? The wire sends it as X-API-Key. */
  readonly key: 'needed' | 'optional';
  /**
   * What a request that is sent again comes to: dedup: the same one; strict: a conflict if the first one came through;
   * none: another one, so training requests are sent once.
   */
  readonly sequence: 'dedup' | 'strict' | 'none';
  readonly losses: readonly Loss[];
  /** sum over tokens, or the mean over sequences of each one's mean over tokens. */
  readonly reduction: 'sum' | 'sequence-mean';
  /** Is there a forward without gradients? */
  readonly forward: boolean;
  /** Does optim_step obey grad_clip_norm? */
  readonly gradClip: boolean;
  /** kept: a sampler checkpoint never changes. latest: sampling it gives the model's newest weights. */
  readonly snapshots: 'kept' | 'latest';
  /** retrieve_future with 400: the operation failed, or the answer is not the server's own. */
  readonly futureBad: 'failed' | 'passing';
  /** In `loss_fn_output_type`; null where it says nothing. Tells servers apart that otherwise look alike. */
  readonly outputType: string | null;
}

const ALL: readonly Loss[] = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'];

const official: Profile = {
  encoding: 'json',
  key: 'optional',
  sequence: 'dedup',
  losses: ALL,
  reduction: 'sum',
  forward: true,
  gradClip: true,
  snapshots: 'kept',
  futureBad: 'passing',
  outputType: null,
};

export const PROFILES = {
  official,
  tuft: { ...official, encoding: 'proto', key: 'needed', sequence: 'strict', futureBad: 'failed' },
  // SkyRL 0.4 refuses JSON batches and answers in protobuf; earlier ones take both.
  'skyrl-jax': {
    ...official,
    encoding: 'proto',
    reduction: 'sequence-mean',
    gradClip: false,
    snapshots: 'latest',
    futureBad: 'failed',
    outputType: 'scalar',
  },
  'skyrl-train': { ...official, encoding: 'proto', gradClip: false, snapshots: 'latest', futureBad: 'failed' },
  'generic-json': {
    ...official,
    sequence: 'none',
    losses: ['cross_entropy', 'importance_sampling', 'ppo'],
    gradClip: false,
    futureBad: 'failed',
  },
} as const satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof PROFILES;
export const isProfile = (name: string): name is ProfileName => Object.hasOwn(PROFILES, name);

const NAMES = Object.keys(PROFILES) as ProfileName[];

/** Titles that servers give themselves in openapi.json, and how they can be spoken to: first as nothing else is said. */
const TITLES: Readonly<Record<string, readonly [ProfileName, ...ProfileName[]]>> = {
  crossfold: ['official', 'tuft', 'skyrl-train', 'generic-json'],
  TuFT: ['tuft', 'generic-json'],
  'Tinker API Mock': ['skyrl-jax', 'skyrl-train', 'generic-json'],
};

/**
 * @param title of openapi.json; null where there is none.
 * @param named by the user. @throws UserError where the server is another one
 */
export function profileOf(title: string | null, named?: ProfileName): ProfileName {
  const fitting = title !== null && Object.hasOwn(TITLES, title) ? TITLES[title]! : null;
  if (named === undefined) return fitting?.[0] ?? 'official';
  if (fitting === null || fitting.includes(named)) return named;
  throw new UserError(
    `--engine tinker:URL#${named}: the server calls itself "${title}" and is none of profile ${named}; leave it out, or name one that fits: ${fitting.join(', ')} (of ${NAMES.join(', ')})`,
  );
}
