import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { status } from '@grpc/grpc-js';
import { guarded, guardHttpServer, HTTP_LIMITS } from '@svc-asr/runtime/server-guard.ts';
import { Counter, Registry } from 'prom-client';
import type { EngineHealth } from '../engine.ts';
import { observeRecognisers } from '../pool/recogniser-metrics.ts';
import type { SherpaEngine } from '../pool/pool.ts';

export interface EngineNodeMetrics {
  ended(code: status): void;
  /** Serves `/metrics`, `/healthz` and `/readyz` over HTTP. Port 0 picks a free port. */
  listen(port: number): Promise<Server>;
}

export interface EngineNodeState {
  health(): EngineHealth;
  /** True: `/readyz` returns 503 while the recognisers still work. */
  isDraining(): boolean;
}

export function createEngineNodeMetrics(
  engine: SherpaEngine,
  node: EngineNodeState,
): EngineNodeMetrics {
  const registry = new Registry();
  const registers = [registry];
  const calls = new Counter({
    name: 'svc_engine_calls_total',
    help: 'Recognition calls of an engine node that ended, by gRPC status.',
    labelNames: ['status'],
    registers,
  });
  observeRecognisers(registry, engine, () => node.health());
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/healthz') return void response.end('ok\n');
    if (request.url === '/readyz') {
      const isReady = node.health().ready && !node.isDraining();
      return void response.writeHead(isReady ? 200 : 503).end();
    }
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    const text = await registry.metrics();
    response.setHeader('content-type', registry.contentType).end(text);
  }
  return {
    ended: (code) => calls.inc({ status: status[code] }),
    async listen(port) {
      const server = createServer(HTTP_LIMITS, guarded(answer));
      guardHttpServer(server);
      server.listen(port);
      await once(server, 'listening');
      return server;
    },
  };
}
