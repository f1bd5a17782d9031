/** What the server tells about models, training runs and checkpoints. */
import { checkpointPath, parseCheckpointPath } from '../wire/path.ts';
import { type Checkpoint, kindOfType, type Run } from './checkpoints.ts';
import { Refusal } from './refusal.ts';
import { modelOf, type State } from './state.ts';

const MOST = 1000;

export interface Page {
  readonly offset: number;
  readonly limit: number;
}

/** @throws Refusal 422 */
export function pageOf(query: (name: string) => string | undefined, limit = 100): Page {
  const read = (name: string, standard: number): number => {
    const text = query(name);
    if (text === undefined) return standard;
    const value = Number(text);
    if (!Number.isInteger(value) || value < 0) throw new Refusal(422, `${name} is "${text}"; expected a whole number`);
    return value;
  };
  return { offset: read('offset', 0), limit: Math.min(MOST, read('limit', limit)) };
}

const cut = <T>(all: readonly T[], { offset, limit }: Page) => ({
  part: all.slice(offset, offset + limit),
  cursor: { offset, limit, total_count: all.length },
});

const checkpointJson = (c: Checkpoint): object => ({
  checkpoint_id: `${c.kind}/${c.name}`,
  checkpoint_type: kindOfType(c.kind),
  time: c.time,
  tinker_path: checkpointPath(c),
  size_bytes: c.bytes,
  public: false,
  user_metadata: c.metadata,
  expires_at: c.expires,
});

function runJson({ checkpoints }: State, run: Run): object {
  const own = checkpoints.list(run.id);
  const last = (kind: Checkpoint['kind']): object | null => {
    const found = own.findLast((c) => c.kind === kind);
    return found === undefined ? null : checkpointJson(found);
  };
  return {
    training_run_id: run.id,
    base_model: run.base,
    model_owner: 'local',
    is_lora: run.rank !== null,
    lora_rank: run.rank,
    corrupted: false,
    last_request_time: own.at(-1)?.time ?? run.created,
    last_checkpoint: last('weights'),
    last_sampler_checkpoint: last('sampler_weights'),
    user_metadata: textsOf(run.metadata),
  };
}

/** The wire has texts here; other values are told as JSON. */
const textsOf = (metadata: Run['metadata']): object | null =>
  metadata === null
    ? null
    : Object.fromEntries(
        Object.entries(metadata).map(([key, value]) => [
          key,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      );

/** Newest first. */
export function listRuns(state: State, page: Page): object {
  const { part, cursor } = cut(state.checkpoints.runs().toReversed(), page);
  return { training_runs: part.map((run) => runJson(state, run)), cursor };
}

export const oneRun = (state: State, id: string): object => runJson(state, runOf(state, id));

export const runCheckpoints = (state: State, id: string): object => ({
  checkpoints: state.checkpoints.list(runOf(state, id).id).map(checkpointJson),
});

/** Of all runs, newest first. */
export function allCheckpoints(state: State, page: Page): object {
  const { part, cursor } = cut(state.checkpoints.list().toReversed(), page);
  return { checkpoints: part.map(checkpointJson), cursor };
}

function runOf({ checkpoints }: State, id: string): Run {
  const run = checkpoints.run(id);
  if (run === undefined) throw new Refusal(404, `no training run "${id}"`);
  return run;
}

const ADAM = { type: 'adamw' };

export function modelInfo(state: State, id: string): object {
  const { lora } = modelOf(state, id);
  const { name, tokenizerId } = state.served;
  return {
    type: 'get_info',
    model_id: id,
    model_data: { arch: 'qwen3', model_name: name, tokenizer_id: tokenizerId },
    optimizer_config: ADAM,
    is_lora: lora !== null,
    lora_rank: lora?.rank ?? null,
    model_name: name,
    /** The rank is what was asked for. */
    trains_all_weights: true,
  };
}

export function weightsInfo(state: State, text: string): object {
  const path = parseCheckpointPath(text);
  const found = path === null ? undefined : state.checkpoints.find(path);
  if (found === undefined) throw new Refusal(404, `no checkpoint "${text}"`);
  const { base, rank } = state.checkpoints.run(found.run)!;
  const trained = rank === null ? {} : { train_unembed: true, train_mlp: true, train_attn: true };
  return { base_model: base, optimizer_config: ADAM, is_lora: rank !== null, lora_rank: rank, ...trained };
}
