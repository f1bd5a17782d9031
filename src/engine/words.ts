/** What messages call the options that an engine was opened with: commands name them differently. */
export interface EngineWords {
  /** Option of the address. */
  readonly engine: string;
  /** Option of what the server calls the model; null: the command has none, the model is settled. */
  readonly model: string | null;
  /** What to do about a server that went away. */
  readonly again: string;
}

/** What to do where the server has other models. */
export const otherModel = ({ engine, model }: Pick<EngineWords, 'engine' | 'model'>): string =>
  model === null ? `name a server that has it with ${engine}` : `give one of its names with ${model}`;
