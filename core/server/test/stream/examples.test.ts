import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  RECORDED_CONVERSATION,
  RECORDED_EVENTS,
  RECORDED_SESSIONS,
} from '@svc-asr/protocol/documents/recorded-examples.ts';
import { expect, test } from 'vitest';
import { recordExamples, type Recorded } from './record-examples.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const FILE = join(ROOT, 'core/protocol/src/documents/recorded-examples.ts');

/** `npm run record` sets it, to write the file instead of comparing with it. */
const isRecording = process.env['RECORD_EXAMPLES'] === '1';

test('the published examples are what the service sends (else run npm run record)', async () => {
  const recorded = await recordExamples();
  if (isRecording) return write(recorded);
  expect(RECORDED_SESSIONS).toEqual(recorded.sessions);
  for (const [committed, again] of [
    [RECORDED_EVENTS, recorded.events],
    [RECORDED_CONVERSATION, recorded.conversation],
  ]) {
    const [before, after] = [split(committed), split(again)];
    expect(before.rest).toEqual(after.rest);
    // Processors differ in the last digits.
    expect(before.confidences.length).toBe(after.confidences.length);
    for (const [at, confidence] of before.confidences.entries()) {
      expect(confidence).toBeCloseTo(after.confidences[at] ?? NaN, 1);
    }
  }
});

/** Takes the confidences out of a value. */
function split(value: unknown): { rest: unknown; confidences: readonly number[] } {
  const confidences: number[] = [];
  const rest: unknown = JSON.parse(JSON.stringify(value), (name, inner: unknown) => {
    if (name !== 'confidence' || typeof inner !== 'number') return inner;
    confidences.push(inner);
    return 'a confidence';
  });
  return { rest, confidences };
}

async function write({ events, sessions, conversation }: Recorded): Promise<void> {
  const lines = [
    "import type { ServerEvent } from '../events.ts';",
    "import type { AsrSession } from '../sessions.ts';",
    '',
    '/** Recorded from the running service by `npm run record`; do not edit. Ids, times and secrets are replaced. */',
    '',
    `export const RECORDED_SESSIONS = ${JSON.stringify(sessions)} satisfies Record<string, AsrSession>;`,
    '',
    `export const RECORDED_EVENTS = ${JSON.stringify(events)} satisfies Record<string, ServerEvent>;`,
    '',
    '/** A session with two sentences, without its deltas. */',
    `export const RECORDED_CONVERSATION: readonly ServerEvent[] = ${JSON.stringify(conversation)};`,
    '',
  ];
  await writeFile(FILE, lines.join('\n'));
  await promisify(execFile)(join(ROOT, 'node_modules/.bin/oxfmt'), [FILE], { cwd: ROOT });
}
