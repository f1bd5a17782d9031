import type { Engine } from '../../engine.ts';
import { UserError } from '../../util/error.ts';
import type { OpenAIOptions } from './options.ts';

export async function openOpenAIEngine({ url }: OpenAIOptions): Promise<Engine> {
  throw new UserError(`--engine openai:${url}: not built yet`);
}
