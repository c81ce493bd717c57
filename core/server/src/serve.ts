import { parseConfig } from './config.ts';
import { createLog, endOnUncaught, redactSecrets } from './platform/observe/log.ts';
import { readSecretFiles } from './platform/secret-files.ts';
import { startServer } from './server.ts';
import { explainStart } from './start-error.ts';

/** Starts the service process that the environment describes. Resolves, when it serves, to what a signal calls. */
export async function serve(): Promise<(signal: NodeJS.Signals) => void> {
  const config = (() => {
    try {
      return parseConfig(readSecretFiles(process.env));
    } catch (error) {
      return refuse(error);
    }
  })();
  const log = createLog({ level: config.logLevel });
  endOnUncaught(log);

  const server = await startServer(config, { log }).catch(refuse);
  log.info({ url: server.url, role: config.role, nodeId: config.nodeId }, 'listening');

  let stopping = false;
  async function stop(signal: NodeJS.Signals): Promise<void> {
    // A second signal exits at once.
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    await server.stop();
    log.info('stopped');
  }
  return (signal) => void stop(signal);
}

function refuse(error: unknown): never {
  process.stderr.write(`${redactSecrets(explainStart(error))}\n`);
  process.exit(1);
}
