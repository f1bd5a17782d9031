/** What GET /metrics tells Prometheus. A registry per server. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Gate } from './gate.ts';

export interface Metrics {
  /** One answered POST /retrieve. */
  answered(status: number, seconds: number): void;
  /** Queries that were searched. */
  searched(queries: number): void;
  /** Text in the format of `contentType`. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** @param passages of the index; 0 until it is open. */
export function openMetrics(gate: Gate, passages: () => number): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name: `crossfold_search_${name}`,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  };
  const requests = new Counter({
    name: 'crossfold_search_requests_total',
    help: 'Search requests by HTTP status',
    labelNames: ['status'],
    registers,
  });
  const latency = new Histogram({
    name: 'crossfold_search_request_seconds',
    help: 'Seconds from request to reply, waiting included',
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30],
    registers,
  });
  const queries = new Counter({
    name: 'crossfold_search_queries_total',
    help: 'Queries that were searched',
    registers,
  });
  gauge('queue_length', 'Search requests that wait', gate.waiting);
  gauge('in_flight', 'Search requests that are being searched', gate.running);
  gauge('index_passages', 'Passages of the index; 0 until it is ready', passages);
  return {
    answered(status, seconds) {
      requests.inc({ status });
      latency.observe(seconds);
    },
    searched: (n) => queries.inc(n),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
