export { DEFAULT_CONFIG, DEFAULT_LIMITS, type Config, type Limits } from './config.ts';
export type { Log, Notice } from './door.ts';
export { DOORS } from './doors.ts';
export { startCompatible, type CompatibleServer } from './server.ts';
