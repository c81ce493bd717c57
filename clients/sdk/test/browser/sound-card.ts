import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { wavToPcm16k } from '@svc-asr/sdk/audio';
import { eventually } from '@svc-asr/testing/eventually.ts';

export interface SoundCard {
  /** Environment variables for the process that uses it. */
  readonly env: { readonly PULSE_SERVER: string };
  stop(): Promise<void>;
}

/**
 * A virtual sound card that plays a recording as its microphone. Firefox, unlike Chromium, needs a
 * sound card as audio clock.
 */
export async function startSoundCard(wav: string): Promise<SoundCard> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-sound-'));
  const socket = join(folder, 'socket');
  const microphone = join(folder, 'microphone');
  const modules = [
    'module-null-sink',
    `module-pipe-source file=${microphone} format=s16le rate=16000 channels=1`,
    `module-native-protocol-unix auth-anonymous=1 socket=${socket}`,
  ];
  const daemon = spawn(
    'pulseaudio',
    ['-n', '--exit-idle-time=-1', '--use-pid-file=no', ...modules.flatMap((load) => ['-L', load])],
    { stdio: 'ignore', env: { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder } },
  );
  const exited = once(daemon, 'exit');
  // The socket is created last.
  await eventually(() => existsSync(socket), 30_000);
  const pcm = wavToPcm16k(await readFile(wav));
  // Reads samples in real time, and breaks the pipe when it exits.
  const speaking = pipeline(again(new Uint8Array(pcm.buffer)), createWriteStream(microphone));
  speaking.catch(() => {});
  return {
    env: { PULSE_SERVER: `unix:${socket}` },
    async stop() {
      daemon.kill();
      await exited;
      await speaking.catch(() => {});
      await rm(folder, { recursive: true });
    },
  };
}

function* again(recording: Uint8Array): Generator<Uint8Array> {
  for (;;) yield recording;
}
