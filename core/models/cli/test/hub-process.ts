import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { HubRequest, HubState } from './local-hub.ts';

export interface HubProcess {
  readonly url: string;
  set(state: HubState): Promise<void>;
  requests(): Promise<readonly HubRequest[]>;
  stop(): Promise<void>;
}

/** Starts the local hub as a process of its own. */
export async function startHub(state: HubState, env: NodeJS.ProcessEnv = {}): Promise<HubProcess> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'local-hub.ts'), JSON.stringify(state)],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } },
  );
  const closed = once(child, 'close');
  const [url]: string[] = await once(createInterface(child.stdout), 'line');
  const control = `${url}/control`;
  return {
    url: url ?? '',
    set: async (body) => void (await fetch(control, { method: 'PUT', body: JSON.stringify(body) })),
    requests: async () => {
      const answer = await fetch(control);
      const requests: HubRequest[] = JSON.parse(await answer.text());
      return requests;
    },
    stop: async () => {
      child.kill();
      await closed;
    },
  };
}
