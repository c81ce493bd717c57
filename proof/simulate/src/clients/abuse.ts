import type { Random } from '../virtual/random.ts';
import type { ClientStep } from './client.ts';

/** Text messages that no good client sends. */
const TEXTS = [
  '{"type":"flush","id":1}',
  '{"type":"reset","id":"a"}',
  '{"type":"config","endpointing":{"silence_ms":300}}',
  '{"type":"config","endpointing":{"detector":"confirmed"}}',
  '{"type":"config","endpointing":false}',
  '{"type":"config","keyterms":["mbeca","thukuru"]}',
  '{"type":"config","keyterms":[]}',
  '{"type":"config","language":"ki"}',
  '{"type":"config","language":"xx"}',
  '{"type":"unknown"}',
  'not json',
  '',
  '[]',
  `{"type":"flush","id":"${'x'.repeat(5_000)}"}`,
];

/** How many leave before their stream is open. */
const HASTY_SHARE = 0.15;
/** How many send whole milliseconds, so that the words of their audio can be checked. */
const WHOLE_SHARE = 0.5;
const MILLISECOND_BYTES = 32;

/** Draws the steps of a client that uses the socket directly: odd frames, floods, bad messages, used credentials. */
export function drawAbuse(random: Random): ClientStep[] {
  if (random.chance(HASTY_SHARE)) {
    return [{ do: 'pause', ms: random.pick([2, 10, 30, 80, 200]) }, { do: 'drop' }];
  }
  const unit = random.chance(WHOLE_SHARE) ? MILLISECOND_BYTES : 1;
  const count = random.integer(1, 10);
  const steps = Array.from({ length: count }, () => drawStep(random, unit)).flat();
  const dice = random.next();
  if (dice < 0.4) return [...steps, { do: 'close' }];
  if (dice < 0.6) return [...steps, { do: 'drop' }];
  return steps;
}

function drawStep(random: Random, unit: number): ClientStep[] {
  const bytes = (from: number, to: number): number =>
    Math.ceil(random.integer(from, to) / unit) * unit;
  const dice = random.next();
  if (dice < 0.4) return [{ do: 'bytes', bytes: bytes(1, 6_400), times: random.integer(1, 12) }];
  if (dice < 0.45) return [{ do: 'bytes', bytes: bytes(0, 63), times: random.integer(1, 200) }];
  if (dice < 0.55) return drawBurst(random, bytes(64, 890));
  if (dice < 0.75) return [{ do: 'text', text: random.pick(TEXTS), times: 1 }];
  if (dice < 0.8) return [{ do: 'text', text: random.pick(TEXTS), times: random.integer(5, 80) }];
  if (dice < 0.85) return [{ do: 'open-again' }];
  if (dice < 0.87) return [{ do: 'bytes', bytes: 70_000, times: 1 }];
  return [{ do: 'pause', ms: random.pick([10, 300, 3_000]) }];
}

/** More frames at once than the recogniser takes, often with commands between them. */
function drawBurst(random: Random, bytes: number): ClientStep[] {
  const burst: ClientStep = { do: 'burst', bytes, times: random.integer(60, 300) };
  const commands = random.pick([[], ['flush'], ['reset'], ['flush', 'reset']]);
  const between = commands.flatMap((type): ClientStep[] => [
    { do: 'text', text: JSON.stringify({ type }), times: 1 },
    { do: 'burst', bytes, times: random.integer(1, 120) },
  ]);
  return [burst, ...between];
}

/** Audio before `ready` is not accepted. */
const UNTIL_READY: ClientStep = { do: 'pause', ms: 1_500 };

/** Small frames all at once, so that many wait while the recogniser decodes, with commands after and between them. */
export function drawWaitingFrames(random: Random): ClientStep[] {
  const bytes = random.integer(3, 8) * MILLISECOND_BYTES;
  const burst = (from: number, to: number): ClientStep => ({
    do: 'burst',
    bytes,
    times: random.integer(from, to),
  });
  const types = random.pick([['flush'], ['reset'], ['flush', 'reset'], ['flush', 'flush']]);
  const commands = types.flatMap((type): ClientStep[] => [
    { do: 'text', text: JSON.stringify({ type }), times: 1 },
    burst(1, 60),
  ]);
  const first = burst(200, 420);
  const settings: ClientStep = {
    do: 'text',
    text: '{"type":"config","keyterms":["mbeca"]}',
    times: 1,
  };
  const named = random.chance(0.3) ? [settings] : [];
  // After the audio of any utterance, as long as an earlier one still waits.
  const at = 2 * random.integer(0, types.length);
  const end: ClientStep[] = [{ do: 'pause', ms: 3_000 }, { do: 'close' }];
  return [UNTIL_READY, first, ...commands.toSpliced(at, 0, ...named), ...end];
}

/**
 * Turn detection on audio that lies at odd offsets of what was read together: after a message or frame of an odd length.
 */
export function drawOddTurns(random: Random): ClientStep[] {
  const text = random.pick([
    '{"type":"config","endpointing":{}}',
    '{"type":"config","endpointing": {}}',
    '{"type":"config","endpointing":{"silence_ms":300}}',
    '{"type":"config","endpointing":{"silence_ms":1000}}',
    '{"type":"config","endpointing":{"detector":"confirmed"}}',
    '{"type":"config","endpointing":{"detector":"confirmed" }}',
  ]);
  const frames = Array.from({ length: random.integer(1, 4) }, (): ClientStep[] => [
    { do: 'burst', bytes: 2 * random.integer(32, 400), times: random.integer(2, 20) },
    { do: 'burst', bytes: random.integer(1, 800), times: random.integer(0, 3) },
  ]).flat();
  const config: ClientStep = { do: 'text', text, times: 1 };
  return [UNTIL_READY, config, ...frames, { do: 'pause', ms: 300 }, { do: 'close' }];
}
