/**
 * A server that hangs in the middle: when one attempt had all its time and nothing at all came from the server meanwhile, the
 * server is given up for everybody, once and for all. One that answers others is only slow with this request.
 */
import { InfraError } from '../../util/error.ts';
import { type Http, HttpFailure, type HttpLimits, plainUrl } from '../../util/http.ts';

export class Silent extends InfraError {}

/** `http` with that rule; `limits` are those of `http`. */
export function givingUp(http: Pick<Http, 'send'>, { totalMs }: Pick<HttpLimits, 'totalMs'>): Pick<Http, 'send'> {
  const givenUp = new AbortController();
  /** Replies so far, of any status. */
  let heard = 0;
  return {
    async send({ signal, ...request }) {
      const [before, began] = [heard, performance.now()];
      const signals = [givenUp.signal, ...(signal === undefined ? [] : [signal])];
      try {
        const reply = await http.send({ ...request, signal: AbortSignal.any(signals) });
        heard++;
        return reply;
      } catch (error) {
        const late = error instanceof HttpFailure && error.kind === 'timeout';
        // A connection that never stood has had less.
        if (!late || heard !== before || performance.now() - began < 0.9 * totalMs) throw error;
        givenUp.abort(
          new Silent(
            `${plainUrl(request.url)} has answered nothing at all for ${totalMs / 1000} s and was given up; look at its log and start it anew, or send it less at once (--concurrency)`,
          ),
        );
        throw givenUp.signal.reason;
      }
    },
  };
}
