import { randomBytes } from 'node:crypto';
import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import {
  audioSocketMessage,
  brokenHello,
  cutEverywhere,
  hostileAudioSocket,
  hostileCall,
  hostileRequests,
  http2Noise,
  noise,
  post,
  randomRequest,
  upgradeTo,
  type Attack,
} from '../../bridge-fuzz/attacks.ts';
import { clientHello, isServing, send } from '../../bridge-fuzz/attacker.ts';
import { startTargets, type Target } from '../../bridge-fuzz/targets.ts';
import type { CampaignOptions, CampaignResult } from '../../campaign.ts';
import { numbers } from '../../service/concurrency.ts';

const SIZES = {
  full: { randomAttacks: 5_000, helloStep: 1 },
  // A TLS handshake begins with 1.5 kB.
  short: { randomAttacks: 60, helloStep: 5 },
};
const AT_ONCE = 8;
/** Attacks to name when a process ends: those in flight and a few before. */
const NAMED = 12;

export const about =
  'raw HTTP, upgrades, TLS, calls and resets at every byte: no listening process ends';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const began = performance.now();
  const targets = await startTargets();
  log(`started in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  const size = SIZES[short ? 'short' : 'full'];
  try {
    const hello = await clientHello();
    let requests = 0;
    const silent: string[] = [];
    await Promise.all(
      targets.all.map(async (target) => {
        const attacks = attacksOn(target, hello, size);
        const sent = await assault(target, attacks, log);
        requests += sent;
        if (!target.process.hasEnded && !(await isServing(target))) silent.push(target.name);
      }),
    );
    const processes = new Set(targets.all.map(({ process }) => process));
    const ends = [...processes].filter((process) => process.hasEnded);
    for (const { name, lines } of ends) log(`${name} ended:\n${lines.slice(-8).join('\n')}`);
    for (const name of silent) log(`${name} no longer answers`);
    return {
      passed: ends.length === 0 && silent.length === 0,
      figures: {
        requests,
        ends: ends.length,
        processes: processes.size,
        ports: targets.all.length,
        silent: silent.length,
      },
    };
  } finally {
    await targets.stop();
  }
}

/** Sends the attacks until the process ends. Returns how many were sent. */
async function assault(
  target: Target,
  attacks: readonly Attack[],
  log: (line: string) => void,
): Promise<number> {
  const began = performance.now();
  let sent = 0;
  let isNamed = false;
  const recent: string[] = [];
  await mapConcurrently(attacks, AT_ONCE, async (attack) => {
    if (target.process.hasEnded) {
      if (!isNamed) log(`${target.name} ended. Last attacks: ${recent.join('; ')}`);
      isNamed = true;
      return;
    }
    if (recent.push(`${attack.name}, ${attack.ending}`) > NAMED) recent.shift();
    await send(target, attack);
    sent += 1;
  });
  log(`${target.name}: ${sent} requests in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return sent;
}

function attacksOn(target: Target, hello: Buffer, size: (typeof SIZES)['full']): Attack[] {
  const random = numbers(size.randomAttacks);
  switch (target.speaks) {
    case 'tls':
      return [
        ...cutEverywhere('TLS handshake', hello, size.helloStep),
        ...random.flatMap(() => [brokenHello(hello), noise()]),
      ];
    case 'http2':
      return [
        ...cutEverywhere('HTTP/2', http2Noise().bytes),
        ...random.flatMap(() => [http2Noise(), noise()]),
      ];
    case 'audiosocket':
      return [
        ...cutEverywhere('AudioSocket call', audioSocketCall()),
        ...random.flatMap(() => [hostileAudioSocket(), noise()]),
      ];
    case 'http':
      return [
        ...hostileRequests(),
        ...cutEverywhere('upgrade', upgradeTo(target.calls[0] ?? '/v1/asr/stream', target.headers)),
        ...cutEverywhere('POST', post('/faults')),
        ...random.flatMap(() => [
          randomRequest(),
          noise(),
          ...target.calls.map((path) => hostileCall(path, target.headers)),
        ]),
      ];
  }
}

function audioSocketCall(): Buffer {
  return Buffer.concat([
    audioSocketMessage(0x01, randomBytes(16)),
    audioSocketMessage(0x10, randomBytes(160)),
    audioSocketMessage(0x00, Buffer.alloc(0)),
  ]);
}
