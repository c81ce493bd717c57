import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { expect, test } from 'vitest';
import { speech, streamOf } from '../emulator-client.ts';
import { expectWhole } from './expect-whole.ts';

test('after failures at random positions the utterances still follow each other', async () => {
  const emulator = await startEmulatorOn(await createTestDatabase(), {
    texts: ['nĩ wega mũno'],
  });
  const names = ['engine-crash', 'restart', 'connection-lost'] as const;
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let round = 0; round < 4; round += 1) {
    for (let fault = 0; fault < 4; fault += 1) {
      const name = names[random(names.length)] ?? 'engine-crash';
      emulator.faults.arm({ name, ms: 100 + random(4_000), times: 1 });
    }
    const stream = streamOf(emulator);
    let ms = 0;
    while (ms < 12_000) {
      const piece = 1 + random(900);
      ms += piece;
      await stream.write(speech(piece));
      if (random(4) === 0) void stream.flush();
    }
    const { finals } = await stream.finish();
    expectWhole(finals, ms);
    expect(stream.transcript.sessions.length).toBeGreaterThan(1);
    emulator.faults.clear();
  }
  await emulator.stop();
});
