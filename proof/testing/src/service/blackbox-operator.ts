import { once } from 'node:events';
import { createServer } from 'node:http';
import { listen } from '@svc-asr/runtime/listen.ts';

export type OperatorActions = Readonly<Record<string, () => Promise<unknown>>>;

/** Serves `POST /ACTION` on loopback, so that clients that share no code with us can ask for an operator's actions. */
export async function startOperator(
  actions: OperatorActions,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const action = actions[request.url?.slice(1) ?? ''];
    if (action === undefined) {
      response.writeHead(404).end();
      return;
    }
    action().then(
      () => response.writeHead(204).end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
