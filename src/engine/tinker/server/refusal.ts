/** A request that is not taken: an HTTP status and one sentence for whoever sent it. */
import type { ContentfulStatusCode } from 'hono/utils/http-status';

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: ContentfulStatusCode;

  constructor(status: ContentfulStatusCode, detail: string) {
    super(detail);
    this.status = status;
  }
}
