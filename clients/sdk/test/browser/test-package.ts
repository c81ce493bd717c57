import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SvcClient } from '@svc-asr/sdk';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { STREAM_PATH } from '@svc-asr/protocol';
import { freePort } from '@svc-asr/local/free-port.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';
import { projectWithPackage, type Project } from '@svc-asr/testing/installed-package.ts';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import type { Tab, TestBrowser } from './test-browser.ts';
import { clientOf } from '../emulator-client.ts';
import { RECORDING, servePage } from './page-server.ts';

/** Defines the tests of the installed package in a real browser. */
export function testPackageIn(open: (wav: string) => Promise<TestBrowser>): void {
  let emulator: Emulator;
  /** With the real recogniser. */
  let real: Service;
  let engine: SherpaEngine;
  let project: Project;
  let browser: TestBrowser;
  beforeAll(async () => {
    engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
    const port = String(await freePort());
    [emulator, real, project, browser] = await Promise.all([
      startEmulator({ texts: ['nĩ wega mũno'] }),
      startService({
        env: {
          PORT: port,
          PUBLIC_STREAM_URL: `ws://127.0.0.1:${port}${STREAM_PATH}`,
          ALLOW_INSECURE_WS: '1',
        },
        parts: { engine },
      }),
      projectWithPackage('@svc-asr/sdk', [join(import.meta.dirname, '../../node_modules')]),
      open(RECORDING),
    ]);
  });
  afterAll(async () => {
    await Promise.all([browser.close(), emulator.stop(), real.stop(), project.remove()]);
    await engine.close();
  });
  afterEach(() => emulator.faults.assertAllMet());

  async function visit(script: string, client = clientOf(emulator)): Promise<Tab> {
    const server = await servePage({ script, resolveDir: project.folder, client });
    onTestFinished(() => server.close());
    return browser.visit(server.url);
  }

  test('microphone to transcript, across a failure, without a key', async () => {
    emulator.faults.arm({ name: 'engine-crash', ms: 1_500, times: 1 });
    const tab = await visit(`
      import { openMicrophone } from '@svc-asr/sdk/microphone';
      import { fetchSession, openStream } from '@svc-asr/sdk/stream';
      window.talk = async (ms) => {
        const stream = openStream({ getSession: fetchSession('/session') });
        const seen = { reasons: [], loudest: -100 };
        stream.on('reconnecting', ({ close }) => seen.reasons.push(close.reason));
        const delta = new Promise((resolve) => stream.on('delta', ({ audio_ms }) => audio_ms > ms && resolve()));
        const microphone = await openMicrophone({
          sink: stream,
          onLevel: (db) => (seen.loudest = Math.max(seen.loudest, db)),
        });
        await delta;
        await microphone.stop();
        const { text, final } = await stream.finish();
        return { ...seen, text, sentMs: microphone.sentMs, endMs: final.end_ms, close: await stream.closed };
      };`);
    const result = await tab.evaluate<{ sentMs: number; endMs: number; loudest: number }>(
      'window.talk(1500)',
    );
    expect(result).toMatchObject({
      text: 'nĩ wega mũno',
      reasons: ['internal_error'],
      close: { code: 1000, reason: 'completed' },
    });
    // The microphone delivered sound, and every millisecond is in exactly one utterance.
    expect(result.loudest).toBeGreaterThan(-40);
    expect(result.endMs).toBe(Math.round(result.sentMs));
  });

  test('voice processing by the browser is off by default', async () => {
    const tab = await visit(`
      import { openMicrophone } from '@svc-asr/sdk/microphone';
      const sink = { write: async () => {}, skip() {} };
      const { mediaDevices } = navigator;
      const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices);
      window.settings = async (options) => {
        let track;
        mediaDevices.getUserMedia = async (constraints) => {
          const media = await getUserMedia(constraints);
          [track] = media.getTracks();
          return media;
        };
        const microphone = await openMicrophone({ sink, ...options });
        const { echoCancellation, noiseSuppression, autoGainControl } = track.getSettings();
        await microphone.stop();
        return { echoCancellation, noiseSuppression, autoGainControl };
      };`);
    expect(await tab.evaluate('window.settings({})')).toEqual({
      echoCancellation: false,
      noiseSuppression: false,
      autoGainControl: false,
    });
    expect(await tab.evaluate('window.settings({ voiceProcessing: true })')).toEqual({
      echoCancellation: true,
      noiseSuppression: true,
      autoGainControl: true,
    });
  });

  test('reports audio_not_started and releases the microphone', async () => {
    const tab = await visit(`
      import { openMicrophone } from '@svc-asr/sdk/microphone';
      const sink = { write: async () => {}, skip() {} };
      const { mediaDevices } = navigator;
      const getUserMedia = mediaDevices.getUserMedia.bind(mediaDevices);
      let track;
      mediaDevices.getUserMedia = async (constraints) => {
        const media = await getUserMedia(constraints);
        [track] = media.getTracks();
        return media;
      };
      AudioContext.prototype.resume = () => new Promise(() => {});
      window.attempt = () => openMicrophone({ sink }).then(
        () => 'it did',
        ({ code }) => ({ code, track: track.readyState }),
      );`);
    expect(await tab.evaluate('window.attempt()')).toEqual({
      code: 'audio_not_started',
      track: 'ended',
    });
  });

  test('transcribes a recording that the page decoded', async () => {
    const tab = await visit(
      `
      import { wavToPcm16k } from '@svc-asr/sdk/audio';
      import { fetchSession, openStream } from '@svc-asr/sdk/stream';
      window.transcribe = async () => {
        const stream = openStream({ getSession: fetchSession('/session') });
        const file = await fetch('/recording.wav');
        await stream.write(wavToPcm16k(new Uint8Array(await file.arrayBuffer())));
        const { text } = await stream.finish();
        return text;
      };`,
      new SvcClient({ baseUrl: real.url, apiKey: real.apiKey }),
    );
    const words = readFileSync(RECORDING.replace('.wav', '.expected.txt'), 'utf8').trim();
    expect(await tab.evaluate('window.transcribe()')).toBe(words);
  });

  test('write() waits while the recogniser is stalled, with a bounded socket buffer, and no audio is lost', async () => {
    emulator.faults.arm({ name: 'engine-pause', ms: 1_000, times: 1 });
    const tab = await visit(`
      import { fetchSession, openStream } from '@svc-asr/sdk/stream';
      const sockets = [];
      window.WebSocket = class extends WebSocket {
        constructor(...address) {
          super(...address);
          sockets.push(this);
        }
      };
      const second = new Int16Array(16_000).fill(1);
      const state = { accepted: 0, isHeld: false, socketBytes: 0, socketBytesMost: 0 };
      window.state = () => {
        state.socketBytes = sockets[0]?.bufferedAmount ?? 0;
        state.socketBytesMost = Math.max(state.socketBytesMost, state.socketBytes);
        return state;
      };
      window.pour = async (seconds) => {
        const stream = openStream({ getSession: fetchSession('/session') });
        while (state.accepted < seconds) {
          state.isHeld = true;
          await stream.write(second);
          state.isHeld = false;
          state.accepted += 1;
          window.state();
        }
        const { finals, sessions } = await stream.finish();
        return { ends: finals.map((final) => final.end_ms), billed: sessions.map((each) => each.billableMs) };
      };`);
    const poured = tab.evaluate('window.pour(290)');
    let state = { accepted: 0, isHeld: false, socketBytes: 0, socketBytesMost: 0 };
    await eventually(async () => {
      state = await tab.evaluate('window.state()');
      return state.accepted === 290 || (state.isHeld && state.socketBytes >= 64 * 1024);
    }, 30_000);
    expect(state.accepted).toBeLessThan(290);
    emulator.faults.clear();
    expect(await poured).toEqual({ ends: [290_000], billed: [290_000] });
    // 64 KiB, plus the frame of up to a second that exceeded it.
    state = await tab.evaluate('window.state()');
    expect(state.socketBytesMost).toBeLessThan(64 * 1024 + 32_000);
  });

  test('SvcClient refuses to run in a browser', async () => {
    const tab = await visit(`
      import { SvcClient } from '@svc-asr/sdk';
      window.attempt = () => {
        try {
          new SvcClient({ baseUrl: location.origin, apiKey: 'svc_live_v1_x' });
          return 'it did';
        } catch (error) {
          return error.code;
        }
      };`);
    expect(await tab.evaluate('window.attempt()')).toBe('key_in_browser');
  });

  test('reports a session that was already used', async () => {
    const tab = await visit(`
      import { openStream } from '@svc-asr/sdk/stream';
      window.reuse = async () => {
        const session = await (await fetch('/session', { method: 'POST' })).json();
        const first = openStream({ session });
        await first.flush();
        const second = await openStream({ session }).closed;
        await first.close();
        return second;
      };`);
    expect(await tab.evaluate('window.reuse()')).toMatchObject({
      code: 4401,
      reason: 'session_credential_used',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });
}
