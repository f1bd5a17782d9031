/** The server as a function from requests to replies; it knows no port. Errors are {"detail": text}. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { InfraError, UserError } from '../../../util/error.ts';
import {
  createModelSchema,
  createSessionSchema,
  heartbeatSchema,
  loadWeightsSchema,
  modelSchema,
  optimStepSchema,
  retrieveSchema,
  sampleSchema,
  samplingSessionSchema,
  saveForSamplerSchema,
  saveWeightsSchema,
  weightsInfoSchema,
} from '../wire/messages.ts';
import { parseCheckpointPath } from '../wire/path.ts';
import { PROTO, readForward, readJson, readLossRequest } from './body.ts';
import { allCheckpoints, listRuns, modelInfo, oneRun, pageOf, runCheckpoints, weightsInfo } from './lists.ts';
import { Refusal } from './refusal.ts';
import { createSampler, submitSample } from './samplers.ts';
import { removeCheckpoint } from './saving.ts';
import { createSession } from './sessions.ts';
import { type State, samplerOf, sessionOf } from './state.ts';
import {
  createModel,
  forwardBackward,
  loadWeights,
  optimStep,
  saveForSampler,
  saveWeights,
  unloadModel,
} from './training.ts';

export interface AppOptions {
  /** Requests must bring it as X-API-Key; null: all are served. */
  readonly apiKey: string | null;
  /** True while no new work is taken. */
  readonly closing: () => boolean;
  /** Hears of requests that broke. */
  readonly failed: (error: unknown) => void;
}

export function tinkerApp(state: State, { apiKey, closing, failed }: AppOptions): Hono {
  const { settings, served } = state;
  const app = new Hono();
  const api = new Hono();
  api.use(async (c, next) => {
    if (apiKey !== null && c.req.path !== '/api/v1/healthz') checkKey(c.req.header('x-api-key'), apiKey);
    if (closing() && c.req.method === 'POST' && !c.req.path.endsWith('/retrieve_future'))
      throw new Refusal(503, 'the server is shutting down');
    await next();
  });

  /** Routes that answer at once. */
  const post = <T>(path: string, schema: z.ZodType<T>, answer: (body: T) => object | Promise<object>): void => {
    api.post(path, async (c) => c.json(await answer(await readJson(c, schema, settings.maxBodyBytes))));
  };
  /** Routes that answer with a request id. */
  const accept = (c: Context, requestId: string, more: object = {}): Response =>
    c.json({ request_id: requestId, ...more }, settings.accepted);
  const future = <T>(path: string, schema: z.ZodType<T>, submit: (state: State, body: T) => string): void => {
    api.post(path, async (c) => accept(c, submit(state, await readJson(c, schema, settings.maxBodyBytes))));
  };

  api.get('/healthz', (c) => c.json({ status: 'ok' }));
  api.get('/get_server_capabilities', (c) =>
    c.json({
      supported_models: [
        { model_name: served.name, max_context_length: served.limits.contextLength, trainable: true, sampleable: true },
      ],
    }),
  );
  // Chunks in order: what comes first runs first here.
  post('/client/config', z.unknown(), () => ({ parallel_fwdbwd_chunks: false }));
  post('/telemetry', z.unknown(), () => ({ status: 'accepted' }));
  post('/create_session', createSessionSchema, () => createSession(state));
  post('/session_heartbeat', heartbeatSchema, ({ session_id }) => {
    sessionOf(state, session_id);
    return { type: 'session_heartbeat' };
  });
  post('/create_sampling_session', samplingSessionSchema, async (body) => ({
    sampling_session_id: await createSampler(state, body),
    type: 'create_sampling_session',
  }));
  post('/get_info', modelSchema, ({ model_id }) => modelInfo(state, model_id));
  post('/weights_info', weightsInfoSchema, ({ tinker_path }) => weightsInfo(state, tinker_path));
  api.get('/samplers/:id', (c) => {
    const { id, path } = samplerOf(state, c.req.param('id'));
    return c.json({ sampler_id: id, base_model: served.name, model_path: path });
  });

  api.get('/training_runs', (c) =>
    c.json(
      listRuns(
        state,
        pageOf((name) => c.req.query(name)),
      ),
    ),
  );
  api.get('/training_runs/:run', (c) => c.json(oneRun(state, c.req.param('run'))));
  api.get('/training_runs/:run/checkpoints', (c) => c.json(runCheckpoints(state, c.req.param('run'))));
  api.get('/checkpoints', (c) =>
    c.json(
      allCheckpoints(
        state,
        pageOf((name) => c.req.query(name)),
      ),
    ),
  );
  api.delete('/training_runs/:run/checkpoints/:kind/:name', async (c) => {
    const { run, kind, name } = c.req.param();
    const path = parseCheckpointPath(`tinker://${run}/${kind}/${name}`);
    if (path === null) throw new Refusal(404, `no checkpoint ${kind}/${name}`);
    await removeCheckpoint(state, path);
    return c.body(null, 204);
  });

  future('/create_model', createModelSchema, createModel);
  future('/unload_model', modelSchema, (_, { model_id }) => unloadModel(state, model_id));
  future('/optim_step', optimStepSchema, optimStep);
  future('/save_weights', saveWeightsSchema, saveWeights);
  future('/save_weights_for_sampler', saveForSamplerSchema, saveForSampler);
  future('/load_weights', loadWeightsSchema, loadWeights);
  api.post('/forward_backward', async (c) =>
    accept(c, forwardBackward(state, await readLossRequest(c, settings.maxBodyBytes))),
  );
  api.post('/forward', async (c) => accept(c, forwardBackward(state, await readForward(c, settings.maxBodyBytes))));
  api.post('/asample', async (c) => {
    const { requestId, sequenceIds } = submitSample(state, await readJson(c, sampleSchema, settings.maxBodyBytes));
    return accept(c, requestId, { sample_sequence_ids: sequenceIds });
  });
  api.post('/retrieve_future', async (c) => {
    const { request_id, allow_metadata_only } = await readJson(c, retrieveSchema, settings.maxBodyBytes);
    const proto = (c.req.header('accept') ?? '').includes(PROTO);
    const answer = await state.futures.retrieve(request_id, { proto, metadataOnly: allow_metadata_only });
    return answer.kind === 'json'
      ? c.json(answer.body, answer.status)
      : c.body(Uint8Array.from(answer.body), 200, { 'content-type': PROTO });
  });

  // By its title clients tell servers apart.
  app.get('/openapi.json', (c) => c.json({ openapi: '3.1.0', info: { title: 'crossfold', version: '1' }, paths: {} }));
  app.route('/api/v1', api);
  app.notFound((c) => problem(c, new Refusal(404, `${c.req.method} ${c.req.path} is not served here`)));
  app.onError((error, c) => {
    if (error instanceof Refusal) return problem(c, error);
    if (error instanceof UserError) return problem(c, new Refusal(400, error.message));
    failed(error);
    if (error instanceof InfraError) return problem(c, new Refusal(503, error.message));
    return problem(c, new Refusal(500, 'the request failed; the server has said why in its log'));
  });
  return app;
}

const problem = (c: Context, { status, message }: Refusal): Response =>
  c.json({ detail: message }, status, status === 429 || status === 503 ? { 'retry-after': '1' } : {});

/** Compared in constant time. */
function checkKey(given: string | undefined, expected: string): void {
  if (given === undefined) throw new Refusal(401, 'the header X-API-Key is missing');
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(given), digest(expected)))
    throw new Refusal(403, 'X-API-Key is not the key of this server');
}
