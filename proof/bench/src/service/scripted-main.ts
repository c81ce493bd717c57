import { createScriptedEngine } from '@svc-asr/engine';
import { parseConfig } from '@svc-asr/server/config.ts';
import { createLog } from '@svc-asr/server/platform/observe/log.ts';
import { startServer } from '@svc-asr/server/server.ts';

/** A streaming node whose recogniser costs nothing, so that hundreds of streams fit on one machine. */
const { SCRIPTED_SLOTS, ...env } = process.env;
const config = parseConfig(env);
const log = createLog({ level: config.logLevel });
const texts = [Array.from({ length: 40 }, () => 'mũndũ').join(' ')];
const engine = createScriptedEngine({ script: { texts }, capacity: Number(SCRIPTED_SLOTS) });
const server = await startServer(config, { log, engine });
log.info({ url: server.url }, 'listening');
process.once('SIGTERM', () => void server.stop({ drainMs: 0 }));
