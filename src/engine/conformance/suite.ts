/** What every engine must do before a run can be trusted with it. */
import type { Engine, Tokenizer } from '../../engine.ts';
import { messageOf, UserError } from '../../util/error.ts';
import { Refused } from '../tinker/client/transport.ts';
import type { Finding, Probe, Subject, Verdict } from './probe.ts';
import { SAMPLING } from './sampling.ts';
import { TRAINING } from './training.ts';

export const PROBES: readonly Probe[] = [...SAMPLING, ...TRAINING];

const TEXT = 'The harbour of Norbridge was built in 1911 by the engineer Agnes Holloway, who came from Tarnwick.';

export interface SuiteOptions {
  /** Only what takes seconds. */
  readonly quick?: boolean;
  /** Default: parts of a text, in the engine's tokens. */
  readonly prompts?: Subject['prompts'];
  readonly text?: string;
  /** Names of probes that mean nothing for this engine. */
  readonly without?: readonly string[];
  /** Hears each finding as it comes. */
  readonly told?: (finding: Finding) => void;
}

/** What a probe meets is a finding. @throws UserError, InfraError when the engine cannot even begin to train. */
export async function runSuite(engine: Engine, options: SuiteOptions = {}): Promise<readonly Finding[]> {
  const { quick = false, text = TEXT, without = [], told = () => {} } = options;
  const prompts = options.prompts ?? promptsOf(engine.tokenizer, text);
  const subject: Subject = { engine, prompts, text, noTraining: await whyNoTraining(engine) };
  const out: Finding[] = [];
  for (const probe of PROBES.filter((p) => !quick || p.quick)) {
    const finding = { name: probe.name, ...(await verdictOf(probe, subject, without)) };
    out.push(finding);
    told(finding);
  }
  return out;
}

async function verdictOf(probe: Probe, subject: Subject, without: readonly string[]): Promise<Verdict> {
  if (without.includes(probe.name)) return { state: 'skipped', found: 'means nothing for this engine', expected: '' };
  if (probe.needs === 'training' && subject.noTraining !== null)
    return { state: 'skipped', found: subject.noTraining, expected: '' };
  try {
    return await probe.run(subject);
  } catch (error) {
    return { state: 'failed', found: messageOf(error), expected: 'no error' };
  }
}

/** Null: it trains. A server that trains and refuses a model fails with it. */
async function whyNoTraining(engine: Engine): Promise<string | null> {
  try {
    await (await engine.train(engine.base)).close();
    return null;
  } catch (error) {
    if (error instanceof Refused || !(error instanceof UserError)) throw error;
    return error.message;
  }
}

/** Four runs of tokens of a text, each beginning elsewhere. */
export function promptsOf(tokenizer: Tokenizer, text: string = TEXT): readonly (readonly number[])[] {
  const words = text.split(' ');
  return [0, 3, 6, 9].map((from) => tokenizer.encode([words.slice(from, from + 7).join(' ')]).slice(0, 24));
}
