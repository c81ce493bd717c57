import { expect, test } from 'vitest';
import { Refusal } from '../refusal.ts';
import { readListenOptions } from './parameters.ts';

const RAW = 'encoding=linear16&sample_rate=16000';

function read(query: string) {
  return readListenOptions(new URLSearchParams(query));
}

test('raw audio needs its encoding and rate; anything else is a container', () => {
  expect(read('encoding=linear16&sample_rate=44100&channels=2').audio).toEqual({
    encoding: 'pcm_s16le',
    sampleRateHz: 44_100,
    channels: 2,
  });
  expect(read('encoding=mulaw').audio).toMatchObject({ encoding: 'mulaw', sampleRateHz: 8_000 });
  expect(read('encoding=alaw&sample_rate=16000').audio).toMatchObject({ sampleRateHz: 16_000 });
  expect(read('').audio).toBe('container');
  expect(read('encoding=ogg-opus').audio).toBe('container');
});

test.each([
  ['endpointing=25', { silenceMs: 200, speechFinal: true }],
  ['endpointing=500', { silenceMs: 500, speechFinal: true }],
  ['endpointing=999999', { silenceMs: 5_000, speechFinal: true }],
  ['endpointing=true', { silenceMs: 700, speechFinal: true }],
  ['endpointing=false', { silenceMs: 700, speechFinal: false }],
  ['endpointing=0', { silenceMs: 700, speechFinal: false }],
  ['', { silenceMs: 700, speechFinal: true }],
])('%s is clamped to what the service can do', (query, expected) => {
  expect(read(query)).toMatchObject(expected);
});

test('events are off unless they are asked for', () => {
  expect(read(RAW)).toMatchObject({
    interimResults: false,
    vadEvents: false,
    utteranceEndMs: null,
  });
  expect(read(`${RAW}&interim_results=true&vad_events=True&utterance_end_ms=1000`)).toMatchObject({
    interimResults: true,
    vadEvents: true,
    utteranceEndMs: 1_000,
  });
});

test.each([
  'diarize=true',
  'diarize_model=latest',
  'multichannel=true',
  'redact=pci&redact=ssn',
  'callback=http://169.254.169.254/',
  'detect_language=true',
  'search=ngiri',
  'summarize=v2',
])('refuses %s, and says what to do instead', (query) => {
  expect(() => read(`${RAW}&${query}`)).toThrow(Refusal);
  expect(() => read(`${RAW}&${query}`)).toThrow(/is not supported\. [A-Z].+\.$/);
});

test.each(['diarize=false', 'multichannel=False', 'redact=false', 'callback='])(
  'accepts %s, which asks for nothing',
  (query) => expect(read(`${RAW}&${query}`).ignored).toEqual([]),
);

test.each([
  'encoding=linear16',
  'encoding=amr-nb&sample_rate=8000',
  'encoding=linear16&sample_rate=0',
  'encoding=linear16&sample_rate=47999',
  'encoding=linear16&sample_rate=1e4',
  'encoding=linear16&sample_rate=96000',
  `${RAW}&channels=0`,
  `${RAW}&channels=9`,
  'encoding=__proto__&sample_rate=8000',
  'endpointing=soon',
  'utterance_end_ms=-1',
])('refuses %s', (query) => {
  expect(() => read(query)).toThrow(Refusal);
});

test.each([
  ['10', ['endpointing']],
  ['200', []],
  ['5000', []],
  ['5001', ['endpointing']],
])('endpointing=%s is named as ignored if the service takes another value', (ms, ignored) => {
  expect(read(`${RAW}&endpointing=${ms}`).ignored).toEqual(ignored);
});

test('names ignored parameters once, and only plain names', () => {
  const query = `${RAW}&punctuate=true&paragraphs=false&dictation=true&dictation=1&%0d%0aX:y=1`;
  expect(read(query).ignored).toEqual(['punctuate', 'dictation']);
});

test.each([
  ['numerals=true', true],
  ['smart_format=true', true],
  ['numerals=false', false],
])('%s: numbers as digits %s', (query, numbers) => {
  expect(read(`${RAW}&${query}`)).toMatchObject({ numbers, ignored: [] });
});

test('keyterm and keywords are keyterms; intensities have no effect, and suppressed words are left out', () => {
  const query = `${RAW}&keyterm=Wanjir%C5%A9&keyterm=Njoki%20wa%20Kamau&keyterm=&keywords=Otieno`;
  expect(read(query)).toMatchObject({
    keyterms: ['Wanjirũ', 'Njoki wa Kamau', 'Otieno'],
    ignored: [],
  });
  expect(read(`${RAW}&keywords=Otieno:2.5&keywords=Achieng:-10`)).toMatchObject({
    keyterms: ['Otieno'],
    ignored: ['keywords'],
  });
  const many = Array.from({ length: 300 }, (_, at) => `keyterm=a${at}`).join('&');
  expect(read(`${RAW}&${many}`).keyterms).toHaveLength(101);
});
