/** The matcher of a run by its settings: a rule, or a judge on a server (method.md section 2), whose replies stay with the run. */
import { join } from 'node:path';
import { selfTest } from '../auditor/judge/self-test.ts';
import { type CachedChat, cachedChat } from '../matcher/judge/cache.ts';
import { judgeMatcher } from '../matcher/judge.ts';
import type { Matcher } from '../matcher.ts';
import { chatOf } from '../rollout/chat.ts';
import { UserError } from '../util/error.ts';
import { checkUrl } from '../util/http.ts';
import type { EvolveConfig } from './config.ts';
import { MATCHERS } from './matchers.ts';
import { openJudge } from './open-judge.ts';

type MatcherSettings = Pick<EvolveConfig, 'matcher' | 'judge' | 'judgeModel'>;

const SERVER = 'openai:';
const FLAGS = { judge: `--judge ${SERVER}URL`, judgeModel: '--judge-model NAME' } as const;
const NAMES = Object.keys(FLAGS) as (keyof typeof FLAGS)[];

/** The settings with the judge's address as it is written down: no more of it than is used. @throws UserError */
export function settledJudge<T extends MatcherSettings>(config: T): T {
  const { matcher, judge, judgeModel } = config;
  if (matcher !== 'judge') {
    const useless = NAMES.find((name) => config[name] !== undefined);
    if (useless === undefined) return config;
    const [flag] = FLAGS[useless].split(' ');
    throw new UserError(
      `${flag} is "${config[useless]}", but the matcher is ${matcher}; add --matcher judge, or leave ${flag} out`,
    );
  }
  if (judge === undefined || judgeModel === undefined) {
    const missing = NAMES.filter((name) => config[name] === undefined).map((name) => FLAGS[name]);
    throw new UserError(
      `--matcher judge needs ${missing.join(' and ')}, the model that says when answers are the same`,
    );
  }
  if (!judge.startsWith(SERVER))
    throw new UserError(`judge is "${judge}"; a run is judged by a model on a server: ${SERVER}URL`);
  const { origin, pathname } = checkUrl(judge.slice(SERVER.length), FLAGS.judge);
  return { ...config, judge: `${SERVER}${origin}${pathname.replace(/\/+$/, '')}` };
}

export interface JudgeListener {
  /** Hears what goes on: the self-test, a judge that has not answered for a while. */
  readonly note: (text: string) => void;
  readonly warn: (text: string) => void;
}

/**
 * `work` gets the matcher for a run by its folder, where a judge's replies are kept. The judge is tested before.
 * @throws UserError: it is not served or fails its self-test; InfraError: its server does not answer
 */
export async function withMatcher<T>(
  { matcher, judge, judgeModel }: MatcherSettings,
  { note, warn }: JudgeListener,
  work: (matcherIn: (dir: string) => Promise<Matcher>) => Promise<T>,
): Promise<T> {
  if (matcher !== 'judge') return work(async () => MATCHERS[matcher]);
  const model = judgeModel!;
  const engine = await openJudge(judge!, model, { note, warn });
  const kept: CachedChat[] = [];
  try {
    // By its model alone: what it has said it need not say again at another address.
    const chat = { ...chatOf(engine, await engine.policy(model)), name: model };
    note(`self-test of the judge ${model}`);
    const test = () => selfTest(chat, { auditor: false, matcher: true });
    await test();
    return await work(async (dir) => {
      const cached = await cachedChat(chat, join(dir, 'judge'));
      kept.push(cached);
      return judgeMatcher(cached, test);
    });
  } finally {
    for (const cached of kept) await cached.close();
    await engine.close();
  }
}
