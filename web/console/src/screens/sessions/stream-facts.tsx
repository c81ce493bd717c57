import type { ReactNode } from 'react';
import type { SessionReport } from '@svc-asr/protocol/console/sessions.ts';
import { formatAudio } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { explainAudioHint } from '../../texts/audio-hints.ts';
import { useSessionTexts, type SessionTexts } from '../../texts/sessions.ts';

/** How a stream went, and the ids to look it up by. */
export function StreamFacts({ session }: { session: SessionReport }) {
  const texts = useSessionTexts();
  return (
    <div className="grid gap-4 text-sm">
      {session.stream === null && <p className="text-ink-2">{missing(session, texts)}</p>}
      <dl className="grid gap-4">
        {session.stream !== null && <Figures session={session} stream={session.stream} />}
        <Id name={texts.sessionId} id={session.id} />
        <Id name={texts.createdId} id={session.created_request_id} />
        <Id name={texts.requestId} id={session.request_id} />
      </dl>
    </div>
  );
}

function Figures(props: { session: SessionReport; stream: NonNullable<SessionReport['stream']> }) {
  const texts = useSessionTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const { session, stream } = props;
  const { delta_lag_p50_ms: p50, delta_lag_p95_ms: p95 } = stream;
  // The card above explains the error that ended the stream.
  const hints = stream.hints.filter((hint) => hint !== session.cause);
  return (
    <>
      <Fact name={texts.lag} hint={texts.lagHint}>
        {p50 === null || p95 === null
          ? stream.first_words_ms === null
            ? texts.lagNone
            : texts.lagUnknown
          : `${formatAudio(p50, common)} / ${formatAudio(p95, common)}`}
      </Fact>
      <Fact name={texts.gaps} hint={texts.gapsHint}>
        {stream.gaps === 0
          ? texts.gapsNone
          : texts.gapsOf(stream.gaps, formatAudio(stream.longest_gap_ms, common))}
      </Fact>
      <Fact name={texts.client}>
        {session.client ?? texts.unknown}, {session.origin ?? texts.notBrowser}
      </Fact>
      <Fact name={texts.hints}>
        {hints.length === 0 ? (
          texts.hintsNone
        ) : (
          <ul className="grid gap-1">
            {hints.map((hint) => (
              <li key={hint}>
                <code>{hint}</code> {texts.hint[hint]}
                {hint === 'suspicious_audio' && stream.audio_hint !== null && (
                  <span className="block text-ink-2">
                    {explainAudioHint(stream.audio_hint, language)}
                  </span>
                )}
              </li>
            ))}
          </ul>
        )}
      </Fact>
    </>
  );
}

function Fact(props: { name: string; hint?: string; children: ReactNode }) {
  return (
    <div className="grid gap-x-4 sm:grid-cols-[10.5rem_minmax(0,1fr)]">
      <dt className="text-ink-3">
        {props.name}
        {props.hint !== undefined && <span className="block text-xs">{props.hint}</span>}
      </dt>
      <dd className="wrap-anywhere">{props.children}</dd>
    </div>
  );
}

/** An id in a line of its own, where it fits. */
function Id({ name, id }: { name: string; id: string | null }) {
  if (id === null) return null;
  return (
    <div>
      <dt className="text-ink-3">{name}</dt>
      <dd>
        <code className="text-xs break-all">{id}</code>
      </dd>
    </div>
  );
}

function missing(session: SessionReport, texts: SessionTexts): string {
  if (session.status === 'active') return texts.noDetailsYet;
  return session.claimed_at === null ? texts.neverOpened : texts.noDetails;
}
