import type { SessionReport } from '@svc-asr/protocol/console/sessions.ts';
import type { SessionTexts } from '../../texts/sessions.ts';

export interface Step {
  readonly name: string;
  /** Null: still going on. */
  readonly at: number | null;
  readonly note?: string;
  /** The step at which the session failed. */
  readonly isBad?: boolean;
}

type Reported = Pick<
  SessionReport,
  | 'outcome'
  | 'cause'
  | 'created_at'
  | 'claimed_at'
  | 'completed_at'
  | 'node_id'
  | 'stream'
  | 'close_code'
  | 'close_reason'
>;

/** The steps of a session with their times. The node reports times since the upgrade, so they begin at its claim. */
export function stepsOf(
  session: Reported,
  texts: SessionTexts,
  notes: { readonly reserved: string; readonly client: string; readonly settled: string },
): Step[] {
  const { steps } = texts;
  const claimedAt = session.claimed_at === null ? null : Date.parse(session.claimed_at);
  const { stream, cause } = session;
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
    const add = (name: string, ms: number | null | undefined, more: Partial<Step> = {}) => {
      if (ms === null || ms === undefined) return;
      made.push({ name, at: claimedAt + ms, ...more });
    };
    add(steps.ready, stream?.ready_ms);
    add(steps.firstWords, stream?.first_words_ms);
    add(steps.finals, stream?.last_final_ms, { note: steps.finalCount(stream?.finals ?? 0) });
    const isBad = cause !== null;
    const closed = `${session.close_code} ${session.close_reason}`;
    add(isBad ? steps.closedByServer : steps.closed, stream?.ended_ms, { note: closed, isBad });
  }
  if (session.completed_at === null) {
    made.push({ name: claimedAt === null ? steps.waiting : steps.active, at: null });
    return made;
  }
  const at = Date.parse(session.completed_at);
  if (cause !== null && stream === null) made.push({ name: steps.lost, at, isBad: true });
  const name = session.outcome === 'expired' ? steps.expired : steps.settled;
  made.push({ name, at, note: notes.settled });
  return made;
}
