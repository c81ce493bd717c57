import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that the kernel picks itself (from 32768), and above those that browsers refuse. */
const PORTS = { first: 20_000, end: 32_768 };

/** Returns a free port. No other process gets it from here until this one exits, so it can be used later and again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(PORTS.first, PORTS.end);
    if (await claimPort(port)) return port;
  }
}

/** Returns false if the port is in use or claimed. A claim is an abstract socket, which ends with its process. */
export async function claimPort(port: number): Promise<boolean> {
  const release = await listen(`\0svc-asr-port-${port}`);
  if (release === null) return false;
  const close = await listen(port);
  if (close === null) await release();
  else await close();
  return close !== null;
}

/** Returns a function that stops listening, or null if the address is in use. */
async function listen(address: string | number): Promise<(() => Promise<void>) | null> {
  const server = createServer().listen(address).unref();
  try {
    await once(server, 'listening');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return null;
    throw error;
  }
  return async () => {
    server.close();
    await once(server, 'close');
  };
}
