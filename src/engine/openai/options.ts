/** What a server is opened with. */
import type { Tokenizer } from '../../engine.ts';
import type { HttpLimits } from '../../util/http.ts';
import type { Retry } from '../../util/retry.ts';
import type { EngineWords } from '../words.ts';

/** What its messages say. */
export type OpenAIWords = Pick<EngineWords, 'engine' | 'model'>;

/** How text is sent: as messages, or as one string. */
export type TextApi = 'chat' | 'completions';

export interface OpenAIOptions {
  /** Server root or API root: `http://127.0.0.1:8000` and `http://127.0.0.1:8000/v1` are the same. */
  readonly url: string;
  /** Served model name; also the id of the base policy. */
  readonly model: string;
  /** Default chat. Without effect when a tokenizer is given. */
  readonly api?: TextApi;
  /** The model's own: prompts and completions are then token ids, which the server must offer. */
  readonly tokenizer?: Tokenizer;
  /** In the model's tokens. Default what the server says with a tokenizer; without one, prompts are tried and the server decides. */
  readonly contextLength?: number;
  /** Most requests under way at once; fewer when the server says 429. */
  readonly concurrency?: number;
  /** Of one attempt. */
  readonly limits?: Partial<HttpLimits>;
  readonly retry?: Retry;
  /** Environment variable that holds the key. */
  readonly apiKeyEnv?: string;
  readonly seed?: number;
  /** Further fields of every request body (chat_template_kwargs, say). */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Hears that no request has been answered for a while. */
  readonly note?: (text: string) => void;
  /** Hears of prompts that were too long for the server. */
  readonly warn?: (text: string) => void;
  /** Default --engine and --model. */
  readonly words?: Partial<OpenAIWords>;
}

/** A long answer of a busy server takes minutes. */
export const LIMITS: HttpLimits = { connectMs: 10_000, totalMs: 600_000, maxBytes: 16 * 1024 * 1024 };
/** Of the first requests, which ask for nothing long: a server that hangs is told of soon. */
export const OPENING = { totalMs: 30_000, timeouts: 2 } as const;
export const RETRIES: Retry = { retries: 6, firstMs: 500, longestMs: 60_000 };
