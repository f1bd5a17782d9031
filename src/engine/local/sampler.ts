/**
 * Batched sampling on one thread. A batch of conversations keeps its keys and values between turns; rows with the same
 * history are prefilled once. Tokens depend on (weights, prompt, key) alone: each request draws from its own stream.
 */
import type { Completion, SampleRequest } from '../../engine.ts';
import { UserError } from '../../util/error.ts';
import { type Rng, rng } from '../../util/rng.ts';
import { argmax, draw } from './draw.ts';
import { KvCache, type KvPool } from './kv-cache.ts';
import type { Tensor } from './runtime.ts';
import { PAGE } from './sample-graph.ts';
import type { SampleGraphs } from './sample-graphs.ts';

/** New tokens per row of the prefill graphs; a prompt is cut into such chunks. */
const PREFILL_CHUNKS = [8, 16, 32, 48, 64] as const;
const PREFILL_TOKENS = 2048;
const DECODE_ROWS = 64;
/** Rows are re-packed when fewer than this share of a decode batch still runs. */
const PACKED = 0.75;

interface Row {
  readonly lane: number;
  /** Tokens whose keys and values are cached. */
  cached: number[];
}

/** A row while its request runs. */
interface Running {
  readonly request: SampleRequest;
  readonly row: Row;
  readonly stream: Rng;
  readonly tokens: number[];
  readonly logprobs: number[];
  finish: 'stop' | 'length' | null;
}

interface Probabilities {
  readonly probs: Float32Array;
  readonly tempered: Float32Array;
  /** Offset of the row in both. */
  readonly from: number;
}

export class SampleBatch {
  readonly #graphs: SampleGraphs;
  readonly #feeds: Record<string, Tensor>;
  readonly #cache: KvCache;
  #rows: Row[] = [];
  sampled = 0;
  prefilled = 0;

  constructor(graphs: SampleGraphs, theta: Float32Array, pool: KvPool) {
    this.#graphs = graphs;
    this.#feeds = graphs.weightFeeds(theta);
    this.#cache = new KvCache(graphs.config, pool);
  }

  close(): void {
    this.#cache.close();
  }

  /** One turn of the given conversations; conversations left out are over. Temperature must be the same for all. */
  async sample(requests: readonly SampleRequest[], lanes: readonly number[]): Promise<Completion[]> {
    if (requests.length === 0) return [];
    const { contextLength: context, vocabSize } = this.#graphs.config;
    for (const { prompt, key } of requests) {
      if (prompt.length < 1 || prompt.length >= context) {
        throw new UserError(
          `request ${key}: prompt of ${prompt.length} tokens; expected 1 to ${context - 1} (the context holds ${context})`,
        );
      }
      const alien = prompt.find((id) => !(id >= 0 && id < vocabSize));
      if (alien !== undefined) throw new UserError(`request ${key}: token ${alien}; the vocabulary has ${vocabSize}`);
    }
    this.#keep(lanes);
    const longest = Math.max(...requests.map((r) => Math.min(context, r.prompt.length + r.maxTokens)));
    this.#cache.reserve(this.#rows.length, Math.ceil(longest / PAGE));
    const running = requests.map((request, i): Running => {
      const row = this.#rows.find((r) => r.lane === lanes[i])!;
      return { request, row, stream: rng(request.key), tokens: [], logprobs: [], finish: null };
    });
    const temperature = requests[0]!.temperature;
    await this.#prefill(running, temperature);
    await this.#decode(running, temperature);
    return running.map((r) => ({ tokens: r.tokens, logprobs: r.logprobs, finish: r.finish! }));
  }

  /** Drops rows that are not asked for and adds those that are new; survivors move to the front. */
  #keep(lanes: readonly number[]): void {
    const wanted = new Set(lanes);
    const kept: Row[] = [];
    this.#rows.forEach((row, i) => {
      if (!wanted.has(row.lane)) return;
      this.#cache.copyRow(i, kept.length, row.cached.length);
      kept.push(row);
    });
    const known = new Set(kept.map((r) => r.lane));
    for (const lane of lanes) if (!known.has(lane)) kept.push({ lane, cached: [] });
    this.#rows = kept;
  }

  /** Caches every prompt and draws the first token of every row. */
  async #prefill(running: readonly Running[], temperature: number): Promise<void> {
    const groups = new Map<string, Running[]>();
    for (const r of running) {
      const prompt = r.request.prompt;
      const shared = commonPrefix(r.row.cached, prompt);
      // The last prompt token is always computed: its probabilities are needed.
      r.row.cached = prompt.slice(0, Math.min(shared, prompt.length - 1));
      const key = `${r.row.cached.length}|${prompt.join()}`;
      groups.set(key, [...(groups.get(key) ?? []), r]);
    }
    let pending = [...groups.values()];
    while (pending.length > 0) {
      const byShape = new Map<string, { fresh: number; pages: number; groups: Running[][] }>();
      for (const group of pending) {
        const { row, request } = group[0]!;
        const rest = request.prompt.length - row.cached.length;
        const fresh = PREFILL_CHUNKS.find((n) => n >= rest) ?? PREFILL_CHUNKS.at(-1)!;
        const pages = Math.ceil(row.cached.length / PAGE);
        const key = `${fresh}/${pages}`;
        const entry = byShape.get(key) ?? { fresh, pages, groups: [] };
        entry.groups.push(group);
        byShape.set(key, entry);
      }
      for (const { fresh, pages, groups: batch } of byShape.values()) {
        const size = Math.max(1, Math.floor(PREFILL_TOKENS / fresh));
        for (let i = 0; i < batch.length; i += size) {
          await this.#prefillChunk(batch.slice(i, i + size), fresh, pages, temperature);
        }
      }
      pending = pending.filter((g) => g[0]!.row.cached.length < g[0]!.request.prompt.length);
    }
  }

  async #prefillChunk(groups: readonly Running[][], fresh: number, pages: number, temperature: number): Promise<void> {
    const B = groups.length;
    const tokens = new Int32Array(B * fresh);
    const positions = new BigInt64Array(B * fresh);
    const last = new Int32Array(B);
    const indices = groups.map((g) => this.#rows.indexOf(g[0]!.row));
    const counts = groups.map((g, b) => {
      const { row, request } = g[0]!;
      const start = row.cached.length;
      const count = Math.min(fresh, request.prompt.length - start);
      for (let t = 0; t < fresh; t++) {
        tokens[b * fresh + t] = t < count ? request.prompt[start + t]! : 0;
        // Padding repeats the last valid position: it must stay inside the rotary tables.
        positions[b * fresh + t] = BigInt(start + Math.min(t, count - 1));
      }
      last[b] = b * fresh + count - 1;
      return count;
    });
    const size = this.#cache.rowSize;
    const out = await this.#graphs.run(
      this.#feeds,
      { fresh, pages, tempered: isTempered(temperature) },
      {
        tokens,
        positions,
        last,
        lengths: groups.map((g) => g[0]!.row.cached.length),
        temperature,
        page: (page, stream) => {
          const gathered = new Float32Array(B * size);
          indices.forEach((row, b) => {
            gathered.set(this.#cache.view(page, stream, row, row + 1), b * size);
          });
          return gathered;
        },
      },
    );
    groups.forEach((group, b) => {
      const { row, request } = group[0]!;
      const start = row.cached.length;
      const end = start + counts[b]!;
      this.#cache.write(indices[b]!, start, counts[b]!, out.kv, b, B, fresh);
      row.cached = request.prompt.slice(0, end);
      if (end < request.prompt.length) return;
      for (const r of group) {
        if (r !== group[0]) {
          this.#cache.copyRow(indices[b]!, this.#rows.indexOf(r.row), end);
          r.row.cached = row.cached.slice();
        }
        this.#draw(r, { probs: out.probs, tempered: out.tempered, from: b * this.#graphs.config.vocabSize });
      }
    });
    this.prefilled += counts.reduce((a, b) => a + b, 0);
  }

  /** One token per step for every row that still runs. */
  async #decode(running: readonly Running[], temperature: number): Promise<void> {
    const byRow = new Map(running.map((r) => [r.row, r]));
    for (;;) {
      const alive = running.filter((r) => r.finish === null);
      if (alive.length === 0) return;
      if (alive.length < PACKED * this.#span(byRow)) this.#pack(byRow);
      const end = this.#span(byRow);
      for (let from = 0; from < end; from += DECODE_ROWS) {
        const to = Math.min(end, from + DECODE_ROWS);
        const rows = this.#rows.slice(from, to);
        const current = rows.map((row) => byRow.get(row)!);
        if (current.every((r) => r.finish !== null)) continue;
        const B = rows.length;
        const lengths = rows.map((row) => row.cached.length);
        const pages = Math.ceil(Math.max(...current.map((r, b) => (r.finish === null ? lengths[b]! : 0))) / PAGE);
        const limit = pages * PAGE;
        const out = await this.#graphs.run(
          this.#feeds,
          { fresh: 1, pages, tempered: isTempered(temperature) },
          {
            tokens: Int32Array.from(current, (r) => r.tokens.at(-1)!),
            positions: BigInt64Array.from(lengths, (n) => BigInt(Math.min(n, this.#graphs.config.contextLength - 1))),
            last: Int32Array.from({ length: B }, (_, b) => b),
            lengths: lengths.map((n) => Math.min(n, limit)),
            temperature,
            page: (page, stream) => this.#cache.view(page, stream, from, to),
          },
        );
        current.forEach((r, b) => {
          if (r.finish !== null) return;
          this.#cache.write(from + b, lengths[b]!, 1, out.kv, b, B, 1);
          r.row.cached.push(r.tokens.at(-1)!);
          this.#draw(r, { probs: out.probs, tempered: out.tempered, from: b * this.#graphs.config.vocabSize });
        });
      }
    }
  }

  /** Rows up to and including the last one that still runs. */
  #span(byRow: ReadonlyMap<Row, Running>): number {
    return this.#rows.findLastIndex((row) => byRow.get(row)!.finish === null) + 1;
  }

  /** Moves running rows to the front. */
  #pack(byRow: ReadonlyMap<Row, Running>): void {
    let front = 0;
    for (let i = 0; i < this.#rows.length; i++) {
      if (byRow.get(this.#rows[i]!)!.finish !== null) continue;
      if (i !== front) {
        const [a, b] = [this.#rows[front]!, this.#rows[i]!];
        this.#cache.swapRows(front, i, Math.max(a.cached.length, b.cached.length));
        this.#rows[front] = b;
        this.#rows[i] = a;
      }
      front++;
    }
  }

  #draw(r: Running, { probs, tempered, from }: Probabilities): void {
    const { request } = r;
    const V = this.#graphs.config.vocabSize;
    const token =
      request.temperature === 0 ? argmax(probs, from, V) : draw(tempered, from, V, request, r.stream.uniform());
    r.tokens.push(token);
    r.logprobs.push(Math.log(Math.max(probs[from + token]!, 1e-37)));
    this.sampled++;
    if (request.stop.includes(token)) r.finish = 'stop';
    else if (r.tokens.length >= request.maxTokens) r.finish = 'length';
    else if (request.prompt.length + r.tokens.length >= this.#graphs.config.contextLength) r.finish = 'length';
  }
}

const isTempered = (temperature: number): boolean => temperature !== 1 && temperature !== 0;

function commonPrefix(a: readonly number[], b: readonly number[]): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}
