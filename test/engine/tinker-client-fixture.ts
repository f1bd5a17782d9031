/** The client on a server over the tiny engine, on a port of this machine; a hook stands between the two. */

import { scriptedTokenizer } from '../../src/engine/scripted.ts';
import { openTinkerEngine, type TinkerEngine } from '../../src/engine/tinker/client/client.ts';
import type { TinkerOptions } from '../../src/engine/tinker/client/options.ts';
import type { TinkerSettings } from '../../src/engine/tinker/server/settings.ts';
import { listenOn } from '../../src/util/listen.ts';
import { tinyWorld, type World } from './tinker-server-fixture.ts';

export interface Call {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Null: the server answers. */
export type Hook = (call: Call, real: () => Promise<Response>) => Response | null | Promise<Response | null>;

export interface Site {
  readonly world: World;
  readonly url: string;
  /** Everything that was asked, in order. */
  readonly calls: Call[];
  hook: Hook;
  /** Another server over the same checkpoints. */
  restart(): Promise<void>;
  client(over?: Partial<TinkerOptions>): Promise<TinkerEngine>;
  close(): Promise<void>;
}

/** Short enough that every give-up is a matter of a second. */
export const TIMES = { operationMs: 20_000, patienceMs: 300, pollMs: 2_000, heartbeatMs: 10_000, pauseMs: 10 };

export async function openSite(settings: Partial<TinkerSettings> = {}): Promise<Site> {
  const world = await tinyWorld();
  let speaker = await world.open(settings);
  const calls: Call[] = [];
  const engines: TinkerEngine[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const path = new URL(request.url).pathname.replace('/api/v1/', '');
    const bytes = Buffer.from(await request.clone().arrayBuffer());
    const isJson = request.headers.get('content-type') === 'application/json';
    const call = { path, body: isJson ? JSON.parse(bytes.toString()) : {} };
    calls.push(call);
    const real = async () => speaker.server.fetch(request);
    return (await site.hook(call, real)) ?? real();
  };
  const listening = await listenOn(fetch, { host: '127.0.0.1', port: 0 }, 60_000);
  const site: Site = {
    world,
    url: listening.url,
    calls,
    hook: () => null,
    async restart() {
      speaker = await world.open(settings);
    },
    async client(over = {}) {
      const engine = await openTinkerEngine({
        url: listening.url,
        base: 'tiny',
        tokenizer: scriptedTokenizer([]),
        times: TIMES,
        ...over,
      });
      engines.push(engine);
      return engine;
    },
    async close() {
      await Promise.all(engines.map((engine) => engine.close()));
      await listening.close(1000);
      await speaker.server.close();
      await world.close();
    },
  };
  return site;
}

export const reply = (status: number, body: object): Response => Response.json(body, { status });
