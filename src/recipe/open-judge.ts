/** The model that judges: on a server of its own, by its own options. */
import { type OpenAIEngine, openOpenAIEngine } from '../engine/openai/openai.ts';
import { InfraError, UserError } from '../util/error.ts';

const SERVER = 'openai:';

/** @throws UserError: not such a server, or the model is not served; InfraError: it does not answer. */
export async function openJudge(
  judge: string,
  model: string,
  { note, warn }: { note(text: string): void; warn(text: string): void },
): Promise<OpenAIEngine> {
  if (!judge.startsWith(SERVER))
    throw new UserError(`--judge is "${judge}"; the judge is a model on a server: ${SERVER}URL`);
  const words = { engine: '--judge', model: '--judge-model' };
  try {
    return await openOpenAIEngine({ url: judge.slice(SERVER.length), model, note, warn, words });
  } catch (error) {
    if (error instanceof UserError) throw new UserError(`judge: ${error.message}`);
    if (error instanceof InfraError) throw new InfraError(`judge: ${error.message}`, { cause: error });
    throw error;
  }
}
