/**
 * The settings of `evolve` and `compare`: one schema for flags, YAML files, run.json and editors. Presets are rows.
 */
import { z } from 'zod';
import { ESTIMATORS } from '../method/advantage.ts';
import { DIFFICULTIES } from '../method/difficulty.ts';
import { HOP_MIX_PATTERN, SOURCE_POOLS } from '../method/schedule.ts';
import { SYSTEMS } from './systems.ts';

const keys = <T extends object>(table: T): [keyof T & string, ...(keyof T & string)[]] =>
  Object.keys(table) as [keyof T & string, ...(keyof T & string)[]];
const count = z.int().min(1);
const share = z.number().min(0).max(1);
const rate = z.number().positive().max(1);

export const worldSchema = z.strictObject({
  kind: z.literal('world'),
  seed: z.int().min(0).max(999_999_999).describe('Which world; the base policy was trained on others'),
  unverifiable: share.describe('Share of facts that the retrievable page shows half legible'),
  firstRank: share.describe('Probability that the right page is ranked first'),
  miss: share.describe('Probability that the right page is not found'),
  wordings: z.int().min(1).max(3).describe('Wordings per relation'),
  goldPerHop: count.describe('Held-out gold questions per hop count'),
});
export const docsSchema = z.strictObject({
  kind: z.literal('docs'),
  path: z.string().describe('Folder or file of documents'),
  gold: count.describe('Held-out fill-in questions'),
});

export const evolveSchema = z.strictObject({
  task: z.discriminatedUnion('kind', [worldSchema, docsSchema]),
  policy: z.string().describe('Base policy: a shipped name (mini, reader) or a Hugging Face directory'),
  systems: z
    .array(z.enum(keys(SYSTEMS)))
    .min(1)
    .describe('Systems to run; they share round 1'),
  seed: z.int().min(0).describe('Every draw of the run follows from it'),
  rounds: count.describe('Rounds of proposer, bank and solver'),
  sources: count.describe('Sources in the recurring pool'),
  sourcePool: z.enum(keys(SOURCE_POOLS)).describe('Do sources come back in later rounds?'),
  hopMix: z.string().regex(HOP_MIX_PATTERN).describe('Weights of 1, 2, 3 and 4 hops among prompts, as 4:3:2:1'),
  proposerSteps: count.describe('Proposer updates per round'),
  prompts: count.describe('Source documents per proposer step'),
  admitted: count.describe('Questions to admit per round'),
  solverSteps: count.describe('Solver updates per round'),
  questions: count.describe('Questions per solver step'),
  auxiliarySteps: count.describe('Updates of each auxiliary per round (plans with auxiliaries)'),
  responses: z.int().min(2).describe('Responses per question'),
  temperature: z.number().positive().max(2).describe('Sampling temperature'),
  topP: share.positive().describe('Sampling keeps the likeliest tokens up to this mass'),
  estimator: z.enum(keys(ESTIMATORS)).describe('Advantage groups of the proposer'),
  difficulty: z.enum(keys(DIFFICULTIES)).describe('Shape of the difficulty reward'),
  formatWeight: z.number().min(0).max(10).describe('Weight of the format reward; 0 is off'),
  gate: z.enum(['zero', 'drop']).describe('Proposals that fail the gate: reward 0, or out of their group'),
  lossMean: z.enum(['sequence', 'token']).describe('Normalisation of the loss'),
  matcher: z.enum(['exact', 'cover', 'judge']).describe('When two answers are the same'),
  judge: z.string().optional().describe('Server of the model that judges, with --matcher judge: openai:URL'),
  judgeModel: z.string().min(1).optional().describe('Name of that model on its server'),
  topK: count.describe('Passages per search'),
  proposerRate: rate.describe('Peak learning rate of the proposer'),
  solverRate: rate.describe('Peak learning rate of solver and auxiliaries'),
  warmupSteps: z.int().min(0).describe('Steps of linear learning-rate warm-up'),
  weightDecay: share.describe('AdamW weight decay'),
  gradClip: z.number().min(0).describe('Largest gradient norm; 0 is off'),
  engine: z
    .string()
    .optional()
    .describe(
      'Engine: local, or tinker:URL[#PROFILE] of a server that trains; its profile is found out where none is named (default: local)',
    ),
  base: z.string().optional().describe('Base model by the name that the server gives it'),
  tokenizer: z.string().optional().describe("Folder with the tokenizer.json of the server's model, or a shipped name"),
  workers: z.int().min(1).max(64).describe('Engine threads; results depend on it, not on the cores there are'),
});

export type EvolveConfig = z.infer<typeof evolveSchema>;
