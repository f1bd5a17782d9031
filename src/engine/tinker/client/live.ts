/** Which model in training has which weights right now: a server without immutable snapshots samples those of the model itself. */
import type { RemoteModel } from './models.ts';

export interface Live {
  /** `model` has the weights of `policy`. */
  set(policy: string, model: RemoteModel): void;
  /** Its weights are about to change, or it goes. */
  drop(model: RemoteModel): void;
  get(policy: string): RemoteModel | undefined;
}

export function openLive(): Live {
  const models = new Map<string, RemoteModel>();
  const drop = (model: RemoteModel): void => {
    for (const [policy, one] of models) if (one === model) models.delete(policy);
  };
  return {
    set(policy, model) {
      drop(model);
      models.set(policy, model);
    },
    drop,
    get: (policy) => models.get(policy),
  };
}
