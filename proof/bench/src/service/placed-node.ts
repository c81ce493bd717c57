import { freePort } from '@svc-asr/local/free-port.ts';
import type { Fleet } from './fleet.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** A node with its own public URL, so that clients connect to it directly. */
export async function launchAt(
  fleet: Fleet,
  env: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const port = String(await freePort());
  return fleet.launch({ PORT: port, PUBLIC_STREAM_URL: `ws://127.0.0.1:${port}`, ...env });
}
