import { expect, test } from 'vitest';
import { SileroListener } from '../src/silero/silero-listener.ts';

function listenerFrom(startSample: number, isListening = () => true): SileroListener {
  return new SileroListener({
    id: 1,
    startSample,
    isListening,
    onWaiting: () => {},
    onResult: () => {},
    onClose: () => {},
  });
}

test('asks about all small messages that wait at once, and gives each the hops that it completes', async () => {
  const listener = listenerFrom(0);
  const twentyMs = new Uint8Array(640);
  const answers = [0, 1, 2, 3].map(() => listener.listen(twentyMs));
  expect(listener.ask()?.samples).toHaveLength(4 * 320);
  expect(listener.isWaiting).toBe(false);
  listener.answer(Float32Array.of(0.25, 0.5));
  expect((await Promise.all(answers)).map((each) => [...(each?.probabilities ?? [])])).toEqual([
    [],
    [0.25],
    [],
    [0.5],
  ]);
  expect((await answers[3])?.startSample).toBe(512);
});

test('one question has half a second of a stream at most', () => {
  const listener = listenerFrom(0);
  for (let times = 0; times < 40; times += 1) void listener.listen(new Uint8Array(640));
  expect(listener.ask()?.samples).toHaveLength(25 * 320);
  listener.answer(new Float32Array(15));
  expect(listener.ask()).toMatchObject({ isFresh: false });
  expect(listener.isWaiting).toBe(false);
});

test('audio that skips a late model does not keep the audio before it waiting', async () => {
  let isListening = true;
  const listener = listenerFrom(100, () => isListening);
  const first = listener.listen(new Uint8Array(2_048));
  expect(listener.ask()).toMatchObject({ isFresh: true });
  isListening = false;
  expect(await listener.listen(new Uint8Array(2_048))).toBeNull();
  listener.answer(Float32Array.of(0.5, 0.25));
  expect(await first).toEqual({ startSample: 100, probabilities: Float32Array.of(0.5, 0.25) });
  isListening = true;
  const third = listener.listen(new Uint8Array(2_048));
  // The model missed a part, so it starts again.
  expect(listener.ask()).toMatchObject({ isFresh: true });
  listener.answer(Float32Array.of(0.75, 1));
  expect(await third).toMatchObject({ startSample: 100 + 2_048 });
});
