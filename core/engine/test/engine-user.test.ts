import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { startSherpaEngine } from '../src/index.ts';
import { finals, read } from '@svc-asr/testing/speech/event-reader.ts';
import { MODELS_DIR, speech } from '@svc-asr/testing/speech/fixtures.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;

/** Only root can start a process as another user, who must be able to read this folder. */
function isReachable(path: string): boolean {
  const others = statSync(path).mode & 0o005;
  return others === 0o005 && (path === '/' || isReachable(dirname(path)));
}

/** The users and capabilities in /proc/PID/status. */
function identity(pid: number): Record<string, string> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const fields = ['Uid', 'Gid', 'Groups', 'CapEff', 'CapPrm'];
  return Object.fromEntries(
    fields.map((name) => [
      name,
      new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'm').exec(status)?.[1] ?? '',
    ]),
  );
}

/** A service without root that may change users, as systemd's AmbientCapabilities starts it. */
const AMBIENT = ['--reuid=65533', '--regid=65533', '--clear-groups', '--no-new-privs'].concat(
  ['inh', 'ambient'].map((set) => `--${set}-caps=+setuid,+setgid,+kill`),
);

test.runIf(isRoot && isReachable(import.meta.dirname))(
  'a recogniser keeps no capability of a service that has some, and can be killed by it',
  async () => {
    const script = join(import.meta.dirname, 'pool-of-another-user.ts');
    const parent = spawn('setpriv', [...AMBIENT, process.execPath, script], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    try {
      const pid = await new Promise<number>((resolve) => parent.once('message', resolve));
      expect(identity(pid)).toMatchObject({
        Uid: '65534\t65534\t65534\t65534',
        CapEff: '0000000000000000',
        CapPrm: '0000000000000000',
      });
      // A recogniser that doesn't react is killed when the service stops.
      process.kill(pid, 'SIGSTOP');
      parent.send('stop');
      expect(await once(parent, 'exit')).toEqual([0, null]);
      expect(existsSync(`/proc/${pid}`)).toBe(false);
    } finally {
      parent.kill('SIGKILL');
    }
  },
);

test.runIf(isRoot && isReachable(import.meta.dirname))(
  'a recogniser of another user recognises, and its user cannot read the parent',
  async () => {
    const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1, user: NOBODY });
    try {
      const [child] = engine.children();
      expect(identity(child?.pid ?? 0)).toEqual({
        Uid: '65534\t65534\t65534\t65534',
        Gid: '65534\t65534\t65534\t65534',
        Groups: '',
        CapEff: '0000000000000000',
        CapPrm: '0000000000000000',
      });
      const { model, pcm, expected } = speech('kikuyu-1');
      const stream = await engine.open({ model, signal: new AbortController().signal });
      const reading = read(stream);
      await stream.write(pcm);
      stream.flush();
      expect(finals(await reading.until('final'))).toEqual([expected]);
      await stream.close();

      for (const file of ['environ', 'mem', 'fd', 'maps']) {
        const path = `/proc/${process.pid}/${file}`;
        const attempt = spawnSync('head', ['-c1', path], { ...NOBODY, encoding: 'utf8' });
        expect([file, attempt.stdout, attempt.status]).toEqual([file, '', 1]);
      }
      // The parent's own user can, so the attempts above could have succeeded.
      const own = spawnSync('head', ['-c1', `/proc/${process.pid}/environ`], { encoding: 'utf8' });
      expect(own.stdout).toHaveLength(1);
    } finally {
      await engine.close();
    }
  },
);
