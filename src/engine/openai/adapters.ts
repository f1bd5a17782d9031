/** LoRA adapters of a running vLLM: policies trained elsewhere, sampled under names of their own. */
import { UserError } from '../../util/error.ts';
import { plainUrl } from '../../util/http.ts';
import { type Client, check } from './client.ts';
import { readModels, requireServed, type ServedModel } from './server.ts';

export interface Adapters {
  /** `path` is a PEFT directory on the server's machine. Loading the same twice does nothing. @throws UserError, InfraError */
  load(name: string, path: string): Promise<void>;
  unload(name: string): Promise<void>;
  /** @throws UserError when the server has no model or adapter of that name. */
  require(name: string): Promise<void>;
}

export function adaptersOf(client: Client): Adapters {
  const { root, words } = client;
  const models = async (): Promise<readonly ServedModel[] | null> => readModels(await client.get('/models'));
  const post = async (path: string, body: Readonly<Record<string, string>>): Promise<void> => {
    const reply = await client.post(path, body, path);
    // vLLM also says 404 of an adapter that is not where it was told.
    if ([404, 405].includes(reply.status) && !/adapter/i.test(reply.text))
      throw new UserError(
        `${plainUrl(root + path)} answered ${reply.status}: the server does not load adapters; vLLM does, with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True`,
      );
    check(reply, root + path, client);
  };
  return {
    async load(name, path) {
      const there = (await models())?.find(({ id }) => id === name);
      if (there?.root === path) return;
      if (there !== undefined)
        throw new UserError(
          `${plainUrl(root)} serves "${name}" from ${there.root ?? 'elsewhere'}, not from ${path}; unload it or choose another name`,
        );
      await post('/load_lora_adapter', { lora_name: name, lora_path: path });
    },
    unload: (name) => post('/unload_lora_adapter', { lora_name: name }),
    require: async (name) => requireServed(await models(), name, root, words),
  };
}
