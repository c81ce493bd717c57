import type { Emulator, EmulatorOptions } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import {
  DEFAULT_CONFIG,
  DEFAULT_LIMITS,
  DOORS,
  startCompatible,
  type CompatibleServer,
  type Config,
  type Limits,
  type Notice,
} from '../src/index.ts';

export interface CompatibleService {
  readonly emulator: Emulator;
  readonly server: CompatibleServer;
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly notices: readonly Notice[];
  stop(): Promise<void>;
}

/** For tests without files, on machines without ffmpeg. */
export const NO_FFMPEG = { ffmpeg: '/nowhere/ffmpeg' };

/** The service with a scripted recogniser, and this program in front of it. */
export async function startCompatibleService(
  options: { readonly emulator?: EmulatorOptions; readonly config?: Partial<Config> } = {},
): Promise<CompatibleService> {
  const emulator = await startEmulatorOn(await createTestDatabase(), options.emulator);
  const notices: Notice[] = [];
  const config = { ...DEFAULT_CONFIG, port: 0, baseUrl: emulator.url, ...options.config };
  const server = await startCompatible(config, {
    doors: DOORS,
    log: (notice) => notices.push(notice),
  });
  return {
    emulator,
    server,
    url: server.url,
    notices,
    async stop() {
      await server.stop();
      await emulator.stop();
    },
  };
}

/** This program with other limits, in front of a service that runs. */
export function startWithLimits(
  { url: baseUrl }: Emulator,
  limits: Partial<Limits>,
): Promise<CompatibleServer> {
  return startCompatible(
    { ...DEFAULT_CONFIG, port: 0, baseUrl, limits: { ...DEFAULT_LIMITS, ...limits } },
    { doors: DOORS, log: () => undefined },
  );
}
