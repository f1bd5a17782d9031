/**
 * Chat contract: a model that answers messages with text, for what needs no tokens: judges, encoders of reasoning, the
 * prompted baselines. Any engine can be one (rollout/chat).
 */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ChatRequest {
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  /** 0 is greedy. */
  readonly temperature: number;
  /** The reply ends before the first of these texts. */
  readonly stop?: readonly string[];
  /** Key of the random stream. */
  readonly key: string;
  /** Says whether a reply is of use; one that is not is not kept for later. Absent: each is. */
  readonly reads?: (text: string) => boolean;
}

export interface ChatReply {
  readonly text: string;
  readonly finish: 'stop' | 'length';
  readonly usage: { readonly prompt: number; readonly completion: number };
  /** Set when the request failed and retries did not cure it; the text is then empty. */
  readonly error?: string;
}

export interface Chat {
  /** Names the model and settings that may change replies. */
  readonly name: string;
  /** Replies in request order. A failing request is data; only bad settings are thrown. */
  reply(requests: readonly ChatRequest[]): Promise<readonly ChatReply[]>;
}
