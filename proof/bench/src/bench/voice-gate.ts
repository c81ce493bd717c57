import { distance } from '@svc-asr/eval/scoring.ts';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import { SvcClient } from '@svc-asr/sdk';
import { VoiceGate } from '@svc-asr/sdk/audio';
import { openStream, type SvcStream, type Transcript } from '@svc-asr/sdk/stream';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet, usageOf, type Tenant } from '../service/fleet.ts';
import { launchAt } from '../service/placed-node.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Measures what the voice gate saves in a conversation, and its effect on the words. */
const MODEL = 'svc-asr-kikuyu-v1';
const RATE = 16_000;
const PAUSE_S = 4;
/** Background noise of a quiet room: about -60 dB. */
const ROOM_NOISE = 45;
const SAVED_PERCENT_MIN = 30;
const CHANGED_PERCENT_MAX = 10;
const CREDIT_MS = 3_600_000;

export const about =
  'a conversation with pauses, with and without the voice gate: price and recognised words';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const fleet = await Fleet.start();
  try {
    const service = await launchAt(fleet, { NODE_ID: 'only' });
    const [open, gated] = await fleet.addTenants(2, CREDIT_MS);
    if (open === undefined || gated === undefined) throw new Error('No accounts.');
    const sentences = conversation(short ? 3 : 8);
    const without = await talk(service, open, sentences, sendAll);
    const withGate = await talk(service, gated, sentences, sendSpeech);
    const [costOpen, costGated] = [await costOf(service, open), await costOf(service, gated)];
    const figures = {
      audio_s: Math.round(sentences.reduce((sum, pcm) => sum + pcm.length, 0) / RATE),
      charged_s: costOpen / 1000,
      charged_gated_s: costGated / 1000,
      saved_percent: Math.round((1 - costGated / costOpen) * 100),
      words: without.words.length,
      words_changed: distance(wordsOf(without), wordsOf(withGate)),
    };
    log(`${figures.charged_s} s charged without the gate, ${figures.charged_gated_s} s with it`);
    const changedPercent = (figures.words_changed / Math.max(1, figures.words)) * 100;
    const passed =
      figures.words > 0 &&
      figures.saved_percent >= SAVED_PERCENT_MIN &&
      changedPercent <= CHANGED_PERCENT_MAX;
    return { passed, figures };
  } finally {
    await fleet.stop();
  }
}

/** Returns each sentence with the pause after it. */
function conversation(count: number): Int16Array[] {
  const kikuyu = SPEECH.filter((sentence) => sentence.model === MODEL);
  return Array.from({ length: count }, (_, at) => {
    const pcm = kikuyu[at % kikuyu.length]?.pcm ?? new Uint8Array(0);
    const samples = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength / 2);
    const whole = new Int16Array(samples.length + PAUSE_S * RATE);
    whole.set(samples);
    return whole.map((sample) => sample + (Math.random() * 2 - 1) * ROOM_NOISE);
  });
}

type Send = (stream: SvcStream, sentence: Int16Array) => Promise<void>;

async function talk(
  service: ServiceProcess,
  tenant: Tenant,
  sentences: readonly Int16Array[],
  send: Send,
): Promise<Transcript> {
  const client = new SvcClient({ baseUrl: service.url, apiKey: tenant.apiKey });
  const stream = openStream({
    getSession: ({ signal }) =>
      client.sessions.create({ model: MODEL, maxAudioSeconds: 300 }, { signal }),
  });
  for (const sentence of sentences) {
    await send(stream, sentence);
    await stream.flush();
  }
  return stream.finish();
}

async function sendAll(stream: SvcStream, sentence: Int16Array): Promise<void> {
  await stream.write(sentence);
}

async function sendSpeech(stream: SvcStream, sentence: Int16Array): Promise<void> {
  const gate = new VoiceGate();
  for (const step of [...gate.push(sentence), ...gate.end()]) {
    if (step.do === 'send') await stream.write(step.samples);
    else stream.skip(step.ms);
  }
}

async function costOf(service: ServiceProcess, tenant: Tenant): Promise<number> {
  return (await usageOf(service.url, tenant)).consumed_ms;
}

function wordsOf(transcript: Transcript): string[] {
  return transcript.words.map((word) => word.text);
}
