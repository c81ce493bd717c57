import type { ConsoleSession } from '@svc-asr/protocol/console/console.ts';
import { formatAudio, formatExact } from '../../app/format.ts';
import type { Texts } from '../../texts/en.ts';

/** Explains the price of a session in one sentence that the customer can check. */
export function explainCharge(
  session: Pick<ConsoleSession, 'status' | 'reserved_ms' | 'audio_ms' | 'billable_ms'>,
  texts: Texts,
): string {
  const reserved = formatAudio(session.reserved_ms, texts);
  const audio = formatExact(session.audio_ms, texts);
  switch (session.status) {
    case 'reserved':
      return texts.why.reserved(reserved);
    case 'active':
      return texts.why.active(reserved);
    case 'failed':
      return texts.why.failed(reserved);
    case 'expired':
      return texts.why.expired(reserved);
    case 'completed':
      if (session.billable_ms === 0) return texts.why.completedNothing;
      if (session.billable_ms === session.reserved_ms) return texts.why.completedLimit(reserved);
      if (session.billable_ms === session.audio_ms) return texts.why.completedWhole(audio);
      return texts.why.completed(audio, formatAudio(session.billable_ms, texts));
  }
}
