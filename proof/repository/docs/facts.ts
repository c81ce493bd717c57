import { AUDIO, CHUNK_SAMPLES, ENDPOINTING, LIMITS, MODELS } from '@svc-asr/protocol';
import { RELAY_LIMITS } from '../../../clients/sdk/src/relay-limits.ts';
import { FINISH_MS_MAX, UNSENT_BYTES_MAX } from '../../../clients/sdk/src/stream/limits.ts';
import { FLUSHES_PENDING_MAX } from '../../../core/server/src/gateway/rules/stream-messages.ts';
import { ROOT, pages, readPage } from './blocks.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A way to state a constant. Its first group is the number, and every page that uses these words must have the same. */
export interface Fact {
  readonly constant: string;
  readonly value: number;
  readonly phrase: RegExp;
}

const NUMBER = '(\\d[\\d,.]*)';

function fact(constant: string, value: number, phrase: string): Fact {
  return { constant, value, phrase: new RegExp(phrase.replace('#', NUMBER), 'gi') };
}

const seconds = (ms: number): number => ms / 1000;
const packageOf = (folder: string): { engines: { node: string } } =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
const nodeFloor = Number(/\d+/.exec(packageOf('clients/sdk').engines.node)?.[0]);

export const FACTS: readonly Fact[] = [
  fact('credentialLifetimeMs', seconds(LIMITS.credentialLifetimeMs), 'works once, for # s'),
  fact('credentialLifetimeMs', seconds(LIMITS.credentialLifetimeMs), 'one stream within # s'),
  fact('credentialLifetimeMs', seconds(LIMITS.credentialLifetimeMs), 'not opened within # s'),
  fact('credentialLifetimeMs', seconds(LIMITS.credentialLifetimeMs), 'reserved for # s'),
  fact('idleTimeoutMs', seconds(LIMITS.idleTimeoutMs), 'no audio for # s'),
  fact('sessionWallClockMs', LIMITS.sessionWallClockMs / 60_000, '# minutes have passed'),
  fact('sessionWallClockMs', LIMITS.sessionWallClockMs / 60_000, 'limit of # minutes'),
  fact('initializationMs', seconds(LIMITS.initializationMs), 'it comes within # s'),
  fact('pingIntervalMs', seconds(LIMITS.pingIntervalMs), 'pings every # s'),
  fact('limitWarningMs', seconds(LIMITS.limitWarningMs), '`limit_warning` \\(# s left'),
  fact('audioSecondsMax', LIMITS.audioSecondsMax, 'up to # s of audio'),
  fact('audioSecondsMax', LIMITS.audioSecondsMax, 'reserved audio \\(# s at most'),
  fact('frameBytes', LIMITS.frameBytes, 'frames? (?:of at most|over) # bytes'),
  fact('frameBytes', LIMITS.frameBytes, '1 to # bytes'),
  fact('tinyFrameBytes', LIMITS.tinyFrameBytes, 'frames under # bytes'),
  fact('textMessageBytes', LIMITS.textMessageBytes / 1024, 'text messages are limited to # KiB'),
  fact('requestBodyBytes', LIMITS.requestBodyBytes / 1024, 'request body is larger than # KiB'),
  fact('textMessagesPerSecond', LIMITS.textMessagesPerSecond, 'send at most # a second'),
  fact('FLUSHES_PENDING_MAX', FLUSHES_PENDING_MAX, 'at most # unanswered'),
  fact('silenceMs', ENDPOINTING.silenceMs.default, '`silence_ms` \\| 200 to 5000 \\| #'),
  fact('CHUNK_SAMPLES', CHUNK_SAMPLES / AUDIO.sampleRateHz, 'about every \\[?# s'),
  fact('CHUNK_SAMPLES', CHUNK_SAMPLES, 'chunks of # samples'),
  fact('sampleRateHz', AUDIO.sampleRateHz / 1000, '# kHz mono'),
  fact('FINISH_MS_MAX', seconds(FINISH_MS_MAX), '(?:rejects|raises `finish_timeout`) after # s'),
  fact('UNSENT_BYTES_MAX', UNSENT_BYTES_MAX / 32_000, 'pace: at most # s'),
  fact('RELAY_LIMITS', RELAY_LIMITS.durationMs / 60_000, 'audio over # minutes \\(`durationMsMax`'),
  fact(
    'engines of the SDK',
    nodeFloor,
    'Node (\\d+)(?:\\.\\d+)* (?:or|and) (?:newer|later)(?! for `npx`)',
  ),
];

/** Returns the places where a page states another value, as `page: words`. */
export function contradictions(
  facts: readonly Fact[],
  texts: ReadonlyMap<string, string>,
): string[] {
  return facts.flatMap(({ constant, value, phrase }) =>
    [...texts].flatMap(([page, text]) =>
      [...text.matchAll(phrase)]
        .filter(
          ([, stated = '']) => Number(stated.replaceAll(',', '').replace(/\.$/, '')) !== value,
        )
        .map(([words]) => `${page}: "${words}", but ${constant} is ${value}`),
    ),
  );
}

/** Constants that no page states in any of these words, so that nothing is checked. */
export function unstated(facts: readonly Fact[], texts: ReadonlyMap<string, string>): string[] {
  const all = [...texts.values()].join(' ');
  const stated = facts.filter(({ phrase }) => all.search(phrase) !== -1);
  const constants = new Set(stated.map(({ constant }) => constant));
  return facts.map(({ constant }) => constant).filter((constant) => !constants.has(constant));
}

/** The pages and llms.txt, with line breaks as spaces. */
export function texts(): Map<string, string> {
  return new Map(
    [...pages(), 'llms.txt'].map((page) => [page, readPage(page).replaceAll(/\s+/g, ' ')]),
  );
}

/** The model ids that the pages may name. */
export const MODEL_NAMES: ReadonlySet<string> = new Set(Object.keys(MODELS));
