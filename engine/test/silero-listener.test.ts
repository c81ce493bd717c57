import { expect, test } from 'vitest';
import { SileroListener } from '../src/silero/silero-listener.ts';

test('audio that skips a late model does not keep the audio before it waiting', async () => {
  let isListening = true;
  const listener = new SileroListener({
    id: 1,
    startSample: 100,
    nowMs: () => 0,
    isListening: () => isListening,
    onWaiting: () => {},
    onResult: () => {},
    onClose: () => {},
  });
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
