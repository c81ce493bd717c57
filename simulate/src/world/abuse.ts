import type { Random } from '../virtual/random.ts';
import type { ClientStep } from './client.ts';

/** Text messages that no good client sends. */
const TEXTS = [
  '{"type":"flush","id":1}',
  '{"type":"reset","id":"a"}',
  '{"type":"config","endpointing":{"silence_ms":300}}',
  '{"type":"config","endpointing":false}',
  '{"type":"config","keyterms":["mbeca","thukuru"]}',
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

/** Draws the steps of a client that uses the socket directly: odd frames, floods, bad messages, used credentials. */
export function drawAbuse(random: Random): ClientStep[] {
  if (random.chance(HASTY_SHARE)) {
    return [{ do: 'pause', ms: random.pick([2, 10, 30, 80, 200]) }, { do: 'drop' }];
  }
  const steps: ClientStep[] = Array.from({ length: random.integer(1, 10) }, (): ClientStep => {
    const dice = random.next();
    if (dice < 0.4) {
      return { do: 'bytes', bytes: random.integer(1, 6_400), times: random.integer(1, 12) };
    }
    if (dice < 0.45)
      return { do: 'bytes', bytes: random.integer(0, 63), times: random.integer(1, 200) };
    if (dice < 0.5) {
      return { do: 'burst', bytes: random.integer(64, 900), times: random.integer(60, 160) };
    }
    if (dice < 0.75) return { do: 'text', text: random.pick(TEXTS), times: 1 };
    if (dice < 0.8) return { do: 'text', text: random.pick(TEXTS), times: random.integer(5, 80) };
    if (dice < 0.85) return { do: 'open-again' };
    if (dice < 0.87) return { do: 'bytes', bytes: 70_000, times: 1 };
    return { do: 'pause', ms: random.pick([10, 300, 3_000]) };
  });
  const dice = random.next();
  if (dice < 0.4) return [...steps, { do: 'close' }];
  if (dice < 0.6) return [...steps, { do: 'drop' }];
  return steps;
}
