/** The proposer writes: prompts from sources, proposals back, each with its format reward (method.md section 1). */
import { type FormatReward, formatReward } from '../method/format.ts';
import { drawHops, drawSources } from '../method/schedule.ts';
import { converse } from '../rollout/converse.ts';
import type { Hops, Proposal, Source } from '../types.ts';
import { type Context, environment } from './context.ts';

export interface Drafted extends Proposal {
  /** What the proposer read. */
  readonly material: Source;
  /** Slot of the prompt in its step: trajectories of one prompt share it. */
  readonly prompt: number;
  readonly format: FormatReward;
}

export interface ProposeAt {
  readonly purpose: 'train' | 'write';
  readonly round: number;
  readonly step: number;
  /** Prompts of this purpose before this step, in this round. */
  readonly index: number;
  readonly prompts: number;
  /** Trajectories a prompt. */
  readonly trajectories: number;
}

export async function propose(context: Context, policy: string, at: ProposeAt): Promise<Drafted[]> {
  const { task, settings } = context;
  const { seed } = settings;
  const { purpose, round, step } = at;
  const places = drawSources(settings.sourcePool, settings, task.sources.length, {
    seed,
    purpose,
    round,
    index: at.index,
    count: at.prompts,
  });
  const prompts = places.map((place, index) => {
    const source = task.sources[place]!;
    const hops = drawHops(task.hopMix, { seed, purpose, round, step, index });
    const key = `${seed}/${purpose}/${round}/${step}/${index}`;
    return { source, hops, key, material: task.material(source, key), prompt: index };
  });
  const slots = prompts.flatMap((p) =>
    Array.from({ length: at.trajectories }, (_, j) => ({ ...p, key: `${p.key}/${j}` })),
  );
  const env = await environment(context, policy, 'proposer');
  const rollouts = await converse(
    slots.map(({ material, hops, key }) => ({
      prompt: task.dialect.proposerPrompt(material, hops),
      question: null,
      key,
    })),
    env,
  );
  return slots.map(({ source, hops, material, prompt }, i) => {
    const rollout = rollouts[i]!;
    return { source, hops, material, prompt, rollout, format: formatOf(context, material, hops, rollout) };
  });
}

function formatOf({ engine, task }: Context, material: Source, hops: Hops, rollout: Proposal['rollout']): FormatReward {
  const found = rollout.turns.flatMap((t) => (t.kind === 'search' ? [engine.tokenizer.decode(t.tokens)] : []));
  return formatReward({
    hops,
    turns: rollout.turns.flatMap((t) => (t.kind === 'reply' ? [t.parsed] : [])),
    thinks: task.dialect.thinks,
    searches: rollout.searches,
    malformedCall: rollout.malformedCall,
    question: rollout.question,
    answer: rollout.answer,
    evidence: [`${material.title}\n${material.text}`, ...found],
  });
}
