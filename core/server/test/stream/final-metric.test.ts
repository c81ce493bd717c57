import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';
import { speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { expect, test } from 'vitest';

const CHUNK_MS = 150;

test('svc_stream_final_seconds pairs each flush with its own final, and ignores flushes without audio', async () => {
  const svc = await startService({
    script: { texts: ['nĩ wega'], chunkMs: CHUNK_MS },
    env: { METRICS_TOKEN: 'metrics-token' },
  });
  try {
    const { body: session } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 30 });
    const client = await StreamClient.ready(session, { url: svc.streamUrl });
    const audio = speech({ samples: CHUNK_SAMPLES });
    client.send(audio);
    client.say({ type: 'flush', id: 'a' });
    client.say({ type: 'flush', id: 'nothing' });
    client.send(audio);
    client.say({ type: 'flush', id: 'b' });
    await client.next('final', 3);
    expect(client.ofType('final').map(({ id }) => id)).toEqual(['a', 'nothing', 'b']);
    await client.close();

    const headers = { authorization: 'Bearer metrics-token' };
    const metrics = await (await fetch(`${svc.url}/metrics`, { headers })).text();
    const figure = (name: string): number =>
      Number(
        metrics
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')[1],
      );
    expect(figure('svc_stream_final_seconds_count')).toBe(2);
    expect(figure('svc_stream_final_seconds_bucket{le="0.1"}')).toBe(0);
  } finally {
    await svc.stop();
  }
});
