import { DeepgramClient } from '@deepgram/sdk';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCompatibleService, type CompatibleService } from '../compatible-service.ts';
import { ListenClient, RAW, RefusedHandshake, SENTENCE, silence } from './listen-client.ts';

const TEXT = 'nĩ wega mũno';

let service: CompatibleService;
beforeAll(async () => {
  service = await startCompatibleService({ emulator: { texts: [TEXT], shortestMs: 1_000 } });
});
afterAll(() => service.stop());

/** Deepgram's own client of Flux. */
async function connect(options: {
  readonly eot_threshold: number;
  readonly eager_eot_threshold?: number;
}) {
  const { apiKey } = service.emulator;
  const sockets = service.url.replace('http', 'ws');
  const client = new DeepgramClient({
    apiKey,
    environment: { base: service.url, production: sockets, agent: sockets, agentRest: service.url },
  });
  const socket = await client.listen.v2.connect({
    Authorization: `Token ${apiKey}`,
    model: 'flux-general-multi',
    language_hint: 'ki',
    encoding: 'linear16',
    sample_rate: 16_000,
    reconnectAttempts: 0,
    ...options,
  });
  const messages: Parameters<NonNullable<Parameters<typeof socket.on<'message'>>[1]>>[0][] = [];
  socket.on('message', (message) => messages.push(message));
  const closed = new Promise<number>((resolve) => socket.on('close', ({ code }) => resolve(code)));
  socket.connect();
  await socket.waitForOpen();
  return {
    socket,
    messages,
    say: (pcm: Buffer) => {
      for (let at = 0; at < pcm.byteLength; at += 2_560)
        socket.sendMedia(pcm.subarray(at, at + 2_560));
    },
    turns: () => messages.flatMap((message) => (message.type === 'TurnInfo' ? [message] : [])),
    end: async () => {
      socket.sendCloseStream({ type: 'CloseStream' });
      expect(await closed).toBe(1_000);
      expect(messages.map(({ sequence_id }) => sequence_id)).toEqual([...messages.keys()]);
    },
  };
}

test("Deepgram's SDK hears turns from StartOfTurn to EndOfTurn", async () => {
  const { messages, say, turns, end } = await connect({ eot_threshold: 0.5 });
  for (let turn = 0; turn < 2; turn += 1) {
    say(Buffer.concat([SENTENCE, silence(1_000)]));
    await eventually(() =>
      turns().some(({ event, turn_index }) => event === 'EndOfTurn' && turn_index === turn),
    );
  }
  await end();
  expect(messages[0]).toMatchObject({ type: 'Connected', request_id: expect.any(String) });
  for (const turn of [0, 1]) {
    const ofTurn = turns().filter(({ turn_index }) => turn_index === turn);
    expect(ofTurn[0]?.event).toBe('StartOfTurn');
    expect(ofTurn.some(({ event }) => event === 'Update')).toBe(true);
    expect(ofTurn.some(({ event }) => event.startsWith('Eager'))).toBe(false);
    const last = ofTurn.at(-1);
    expect(last).toMatchObject({ event: 'EndOfTurn', transcript: TEXT, trigger: 'model' });
    expect(last?.words.map(({ word }) => word)).toEqual(TEXT.split(' '));
    expect(last?.audio_window_end).toBeGreaterThan(last?.audio_window_start ?? Infinity);
  }
});

test('eager_eot_threshold announces the end of a turn, and the turn resumes or ends with that text', async () => {
  const { socket, say, turns, end } = await connect({
    eot_threshold: 0.9,
    eager_eot_threshold: 0.5,
  });
  const announced = () => turns().filter(({ event }) => event === 'EagerEndOfTurn');
  say(Buffer.concat([SENTENCE, silence(500)]));
  await eventually(() => announced().length > 0);
  say(Buffer.concat([SENTENCE, silence(500)]));
  await eventually(() => turns().some(({ event }) => event === 'TurnResumed'));
  socket.sendForceEndTurn({ type: 'ForceEndTurn' });
  await eventually(() => turns().some(({ event }) => event === 'EndOfTurn'));
  await end();
  expect(announced()[0]?.transcript).not.toBe('');
  expect(turns().at(-1)).toMatchObject({ event: 'EndOfTurn', turn_index: 0, trigger: 'manual' });
});

test('Configure changes keyterms and nothing else', async () => {
  const { socket, messages, end } = await connect({ eot_threshold: 0.7 });
  const ofType = (type: string) => messages.filter((message) => message.type === type);
  socket.sendConfigure({ type: 'Configure', keyterms: ['Wanjirũ'] });
  socket.sendConfigure({ type: 'Configure', thresholds: { eot_threshold: 0.8 } });
  await eventually(
    () => ofType('ConfigureSuccess').length + ofType('ConfigureFailure').length === 2,
  );
  expect(ofType('ConfigureSuccess')).toMatchObject([
    { keyterms: ['wanjirũ'], thresholds: { eot_threshold: 0.7, eot_timeout_ms: 5_000 } },
  ]);
  expect(ofType('ConfigureFailure')).toMatchObject([{ error_code: 'CONFIGURE_NOT_SUPPORTED' }]);
  await end();
});

test('without a language it names its own parameter', async () => {
  const opened = ListenClient.open(service.url, {
    key: service.emulator.apiKey,
    path: '/v2/listen',
    query: `model=flux-general-multi&${RAW}`,
  });
  const refusal = await opened.catch((error: unknown) => error);
  const reason = expect.stringContaining('Send language_hint ki (Kikuyu) or luo');
  expect(refusal).toMatchObject({ status: 400, body: { err_msg: reason } });
});

test.each([
  ['eager_eot_threshold=0.8&eot_threshold=0.7', /not be greater than eot_threshold/],
  ['eager_eot_threshold=0.2', /from 0.3 to 0.9/],
  ['eot_threshold=high', /from 0.5 to 1/],
  ['eot_timeout_ms=100', /from 500 to 60000/],
])('refuses %s', async (query, reason) => {
  const opened = ListenClient.open(service.url, {
    key: service.emulator.apiKey,
    path: '/v2/listen',
    query: `model=flux-general-en&language_hint=ki&${RAW}&${query}`,
  });
  const refusal = await opened.catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(RefusedHandshake);
  expect(refusal).toMatchObject({ status: 400, body: { err_msg: expect.stringMatching(reason) } });
});
