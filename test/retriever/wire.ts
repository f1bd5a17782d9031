/** A small corpus behind a real port, and a server that says what a test wants. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bm25 } from '../../src/retriever/bm25.ts';
import type { SearchIndex } from '../../src/retriever/server/probe.ts';
import type { Retriever } from '../../src/retriever.ts';
import type { Passage } from '../../src/types.ts';

export const passage = (id: string, title: string, text: string): Passage => ({ id, source: id, title, text });

export const towns: readonly Passage[] = [
  passage('p1', 'Oker', 'The Oker is a river in Lower Saxony.'),
  passage('p2', 'Łódź', 'Łódź is a city in central Poland.'),
  passage('p3', 'Café de Flore', 'A coffeehouse in Paris.'),
  passage('p4', 'Tartu', 'Tartu is a city in Estonia. It has a university.'),
  passage('p5', '東京', '東京は日本の首都です。'),
];

/** An index over passages in memory. */
export const indexOf = (passages: readonly Passage[], retriever: Retriever = bm25(passages)): SearchIndex => ({
  ...retriever,
  passages: { size: passages.length, get: async (places) => places.map((at) => passages[at]!) },
});

export interface Answered {
  readonly url: string;
  /** Bodies of the POSTs, in order. */
  readonly bodies: string[];
  close(): Promise<void>;
}

/** `answer` hears the number of the POST (from 0) and its body. GET /health is a 404, as with the original server. */
export async function fakeServer(
  answer: (n: number, body: string, response: ServerResponse) => void,
): Promise<Answered> {
  const bodies: string[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    if (request.method === 'GET') return response.writeHead(404).end('{"detail":"Not Found"}');
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push(Buffer.concat(chunks).toString());
    answer(bodies.length - 1, bodies.at(-1)!, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
