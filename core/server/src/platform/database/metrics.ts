import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Pool } from './db.ts';
import { readGauge } from '../observe/gauge.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Metrics of the pool and of statement times, excluding the wait for a connection. */
export function observeDatabase(registry: Registry, pool: Pool): void {
  readGauge(registry, {
    name: 'svc_database_pool_waiting',
    help: 'Statements that wait for a connection of the pool.',
    read: () => pool.waitingCount,
  });
  const connections = new Gauge({
    name: 'svc_database_pool_connections',
    help: 'Connections of the pool, by state.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      connections.set({ state: 'idle' }, pool.idleCount);
      connections.set({ state: 'used' }, pool.totalCount - pool.idleCount);
    },
  });
  const seconds = new Histogram({
    name: 'svc_database_query_seconds',
    help: 'How long the database took, by SQL function or statement name, without the wait for a connection.',
    labelNames: ['statement'],
    buckets: SECONDS,
    registers: [registry],
  });
  timeStatements(pool, (statement, ms) => seconds.observe({ statement }, ms / 1000));
}

type Observe = (statement: string, ms: number) => void;

/** pg has no hook around a statement, so `query` of every new connection is replaced. */
function timeStatements(pool: Pool, observe: Observe): void {
  pool.on('connect', (client) => {
    const query: unknown = Reflect.get(client, 'query');
    if (typeof query !== 'function') return;
    Reflect.set(client, 'query', (...args: unknown[]): unknown => {
      const beganMs = performance.now();
      const statement = statementName(args[0]);
      const measure = (): void => observe(statement, performance.now() - beganMs);
      const callback = args.at(-1);
      if (typeof callback === 'function') {
        args[args.length - 1] = (...results: unknown[]): void => {
          measure();
          callback(...results);
        };
        return Reflect.apply(query, client, args);
      }
      const answer: unknown = Reflect.apply(query, client, args);
      if (answer instanceof Promise) answer.then(measure, measure);
      return answer;
    });
  });
}

const FUNCTION_CALL = /^\s*select (?:\* from )?([a-z_]+)\(/;

/** Statements are part of our code, so their names are a closed set. */
export function statementName(query: unknown): string {
  const { name = '', text = query } = typeof query === 'string' ? {} : { ...Object(query) };
  if (name !== '') return String(name);
  return FUNCTION_CALL.exec(String(text))?.[1] ?? 'other';
}
