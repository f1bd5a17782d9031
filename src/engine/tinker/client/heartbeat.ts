/** Tells the server every few seconds that a session is alive, from a thread of its own: a busy main thread must not end it. */
import { Worker } from 'node:worker_threads';

/** Failures for this long are worth telling. */
const SILENCE_MS = 120_000;

/** Plain JavaScript: the thread starts without a loader, from source and from the build alike. */
const BEAT = `
const { parentPort, workerData } = require('node:worker_threads');
const { url, headers, body, everyMs, silenceMs } = workerData;
let heard = Date.now();
let told = false;
const beat = async () => {
  try {
    const reply = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal: AbortSignal.timeout(everyMs) });
    await reply.arrayBuffer();
    if (reply.status === 404) parentPort.postMessage('gone');
    if (reply.ok) { heard = Date.now(); told = false; }
  } catch {}
  if (!told && Date.now() - heard > silenceMs) { told = true; parentPort.postMessage('silent'); }
};
setInterval(beat, everyMs);
`;

export interface Heartbeat {
  stop(): Promise<void>;
}

/** `told` hears "gone" when the server knows no such session, "silent" when nothing has come through for two minutes. */
export function startHeartbeat(
  { url, apiKey, session, everyMs }: { url: string; apiKey: string | null; session: string; everyMs: number },
  told: (what: 'gone' | 'silent') => void,
): Heartbeat {
  const worker = new Worker(BEAT, {
    eval: true,
    workerData: {
      url: `${url}/api/v1/session_heartbeat`,
      headers: { 'content-type': 'application/json', ...(apiKey === null ? {} : { 'x-api-key': apiKey }) },
      body: JSON.stringify({ session_id: session, type: 'session_heartbeat' }),
      everyMs,
      silenceMs: SILENCE_MS,
    },
  });
  worker.on('message', told);
  // A session that ends for want of a heartbeat is noticed where it is used.
  worker.on('error', () => told('silent'));
  worker.unref();
  return { stop: async () => void (await worker.terminate()) };
}
