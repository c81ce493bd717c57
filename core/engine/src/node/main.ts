#!/usr/bin/env node
/**
 * svc-engine: a pool of recognisers behind gRPC. It has no database, and its only secret is its certificate's key.
 *
 * The first process of a container ignores every signal that it has no handler for. So the handlers come first, and
 * everything else is loaded after them. Until the node listens there is nothing to finish.
 */
let stop = (signal: NodeJS.Signals): void => {
  process.stderr.write(`${signal} during the start. Stopped.\n`);
  process.exit(0);
};
process.on('SIGTERM', (signal) => stop(signal));
process.on('SIGINT', (signal) => stop(signal));

const { serve } = await import('./serve.ts');
stop = await serve();
