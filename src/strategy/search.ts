/** search: our solver, which searches turn by turn in its own dialect (rollout/converse). Tokens in, tokens out. */
import { converse, type Environment } from '../rollout/converse.ts';
import type { Attempt, Strategy } from '../strategy.ts';
import type { Rollout } from '../types.ts';

/** `env` samples greedily. */
export const searching = (env: Environment): Strategy => ({
  name: 'search',
  async answer(questions) {
    const rollouts = await converse(
      questions.map(({ id, question }) => ({ prompt: env.dialect.solverPrompt(question), question, key: id })),
      env,
    );
    return rollouts.map((rollout) => attempt(rollout, env));
  },
});

function attempt(rollout: Rollout, { tokenizer, dialect }: Environment): Attempt {
  const { answer, searches, stop, error, turns } = rollout;
  const empty = turns.filter((turn) => turn.kind === 'search' && !turn.notice && turn.passages.length === 0).length;
  const stops = dialect.stop.map((name) => tokenizer.tag(name));
  const says = (tokens: readonly number[]): string =>
    tokenizer.decode(tokens.filter((id) => !stops.includes(id))).trim();
  const silent = turns.filter(({ kind, tokens }) => kind === 'reply' && says(tokens) === '').length;
  return {
    prediction: answer,
    searches,
    ...(empty === 0 ? {} : { emptySearches: empty }),
    ...(silent === 0 ? {} : { emptyReplies: silent }),
    stop,
    ...(error === undefined ? {} : { error }),
    turns: turns.map(({ kind, tokens }) => ({ kind, text: tokenizer.decode(tokens) })),
    rollout,
  };
}
