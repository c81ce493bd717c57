import { once } from 'node:events';
import { createServer } from 'node:net';

/** Throws before anything is started if the port is taken. 0 is any free port. */
export async function refuseUsedPort(input: {
  readonly variable: string;
  readonly port: string;
}): Promise<void> {
  const { variable, port } = input;
  const server = createServer().listen(Number(port), process.env['HOST'] || '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    const isUsed = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    if (!isUsed) throw error;
    throw new Error(
      `Another program uses port ${port}. Stop it, or choose another port: ${variable}=${Number(port) + 1} npm run dev`,
      { cause: error },
    );
  }
  server.close();
  await once(server, 'close');
}
