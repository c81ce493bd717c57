import type { SessionReport } from '@svc-asr/protocol/console/sessions.ts';
import type { SessionTexts } from '../../texts/sessions.ts';

export interface Step {
  readonly name: string;
  /** Null: still going on. */
  readonly at: number | null;
  readonly note?: string;
}

type Reported = Pick<
  SessionReport,
  'status' | 'created_at' | 'claimed_at' | 'completed_at' | 'node_id' | 'stream'
> & { readonly close_code: number | null; readonly close_reason: string | null };

/** The steps of a session with their times. The node reports times since the upgrade, so they begin at its claim. */
export function stepsOf(
  session: Reported,
  texts: SessionTexts,
  notes: { readonly reserved: string; readonly client: string },
): Step[] {
  const { steps } = texts;
  const claimedAt = session.claimed_at === null ? null : Date.parse(session.claimed_at);
  const { stream } = session;
  const made: Step[] = [
    {
      name: steps.reserved,
      at: Date.parse(session.created_at),
      note: steps.reservedWith(notes.reserved),
    },
  ];
  if (claimedAt !== null) {
    const note = `${steps.node(session.node_id)}${notes.client}`;
    made.push({ name: steps.claimed, at: claimedAt, note });
    const add = (name: string, ms: number | null | undefined, note?: string) => {
      if (ms === null || ms === undefined) return;
      made.push({ name, at: claimedAt + ms, ...(note === undefined ? {} : { note }) });
    };
    add(steps.ready, stream?.ready_ms);
    add(steps.firstWords, stream?.first_words_ms);
    add(steps.finals, stream?.last_final_ms, steps.finalCount(stream?.finals ?? 0));
    add(steps.closed, stream?.ended_ms, `${session.close_code} ${session.close_reason}`);
  }
  if (session.completed_at !== null) {
    const name = session.status === 'expired' ? steps.expired : steps.settled;
    made.push({ name, at: Date.parse(session.completed_at) });
  } else {
    made.push({ name: claimedAt === null ? steps.waiting : steps.active, at: null });
  }
  return made;
}
