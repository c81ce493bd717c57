import { parseConfig } from '@svc-asr/server/config.ts';
import { createLog } from '@svc-asr/server/platform/observe/log.ts';
import { startServer } from '@svc-asr/server/server.ts';

/** The service without the fair-share rule for idle streams. The control of `prove fairness`. */
const config = parseConfig(process.env);
const log = createLog({ level: config.logLevel });
const server = await startServer(config, { log, streamLimits: { reclaimIdleMs: Infinity } });
log.info({ url: server.url }, 'listening');
process.once('SIGTERM', () => void server.stop({ drainMs: 0 }));
