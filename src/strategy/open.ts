/** Strategies by name: a row each. */
import type { Chat } from '../chat.ts';
import type { Dialect } from '../dialect.ts';
import type { Policy, Tokenizer } from '../engine.ts';
import type { Retriever } from '../retriever.ts';
import type { Budget, Procedure, Strategy } from '../strategy.ts';
import { cot } from './cot.ts';
import { direct } from './direct.ts';
import { ircot } from './ircot.ts';
import { prompted } from './prompted.ts';
import { rag } from './rag.ts';
import { searching } from './search.ts';
import { searchO1 } from './search-o1.ts';

const PROCEDURES = { direct, cot, rag, ircot, 'search-o1': searchO1 } as const satisfies Record<string, Procedure>;

export type StrategyName = keyof typeof PROCEDURES | 'search';
export const STRATEGIES: readonly StrategyName[] = [
  ...(Object.keys(PROCEDURES) as (keyof typeof PROCEDURES)[]),
  'search',
];

export interface StrategySettings {
  /** The policy, as one that speaks in tokens and as one that speaks in messages. */
  readonly policy: Policy;
  readonly chat: Chat;
  readonly tokenizer: Tokenizer;
  /** Longest prompt and reply, in tokens. */
  readonly contextLength: number;
  readonly dialect: Dialect;
  readonly retriever: Retriever;
  readonly budget: Budget;
  /** The policy's replies do not depend on what else it is asked at the time. */
  readonly eager: boolean;
}

export function openStrategy(name: StrategyName, settings: StrategySettings): Strategy {
  if (name !== 'search') return prompted(name, PROCEDURES[name], settings);
  const { policy, tokenizer, dialect, retriever, budget, contextLength } = settings;
  return searching({
    policy,
    tokenizer,
    dialect,
    retriever,
    topK: budget.topK,
    limits: { turns: budget.turns, tokensPerTurn: budget.maxTokens, contextLength },
    sampling: { temperature: 0, topP: 1 },
  });
}
