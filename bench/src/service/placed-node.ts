import { freePort } from '@svc-asr/server/free-port.ts';
import type { Fleet } from './fleet.ts';
import type { ServiceProcess } from './service-process.ts';

/** A node whose public address is its own, so that sessions placed on it really come to it. */
export async function launchAt(
  fleet: Fleet,
  env: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const port = String(await freePort());
  return fleet.launch({ PORT: port, PUBLIC_STREAM_URL: `ws://127.0.0.1:${port}`, ...env });
}
