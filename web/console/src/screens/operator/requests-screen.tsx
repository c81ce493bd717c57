import { use, useState } from 'react';
import { CREDIT_REQUEST_STATUSES } from '@svc-asr/protocol/console/constants.ts';
import type { OperatorRequest, OperatorRequestPage } from '@svc-asr/protocol/console/credit.ts';
import { post } from '../../app/api.ts';
import { formatAudio, formatDateTime } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { useSearch } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Button } from '../../design/controls.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { useFirstRows } from '../../design/first-rows.ts';
import { Card } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { AccountLink } from './parts/links.tsx';
import { MinutesField, parseMinutes } from './parts/minutes-field.tsx';
import { NextPage } from './parts/next-page.tsx';
import { OperatorPage, Waiting } from './operator-page.tsx';
import { at, OPERATOR_PATHS } from './paths.ts';
import { ReasonDialog } from './parts/reason-dialog.tsx';
import { StateChoice, stateOf } from './parts/state-choice.tsx';

const PATH = OPERATOR_PATHS.requests;

/** Requests for credit, the oldest open one first. */
export function RequestsScreen() {
  const texts = useOperatorTexts().requests;
  const search = useSearch();
  const status = stateOf(search, 'status', CREDIT_REQUEST_STATUSES);
  const after = search.get('after');
  const path = at('/operator/requests', { status, after });
  const { load, reload } = useLoad<OperatorRequestPage>(path);
  return (
    <OperatorPage
      place="requests"
      lead={texts.lead}
      load={load}
      onRetry={() => void reload()}
      aside={
        <StateChoice
          label={texts.show}
          value={status}
          options={texts.states}
          states={CREDIT_REQUEST_STATUSES}
          hrefOf={(state) => at(PATH, { status: state === 'open' ? null : state })}
        />
      }
    >
      {({ data, next }) => (
        <Card>
          <div className="grid gap-4">
            {data.length === 0 ? (
              <Empty icon="operator" text={status === 'open' ? texts.empty : texts.emptyDecided} />
            ) : (
              <Requests key={data[0]?.id} requests={data} />
            )}
            <NextPage path={PATH} query={{ status }} after={after} next={next} />
          </div>
        </Card>
      )}
    </OperatorPage>
  );
}

function Requests({ requests }: { requests: OperatorRequest[] }) {
  const shown = useFirstRows(requests);
  return (
    <ul className="divide-y divide-line">
      {shown.map((request) => (
        <Request key={request.id} request={request} />
      ))}
    </ul>
  );
}

/** A decided request stays where it is, so that no other moves under the pointer. */
function Request({ request }: { request: OperatorRequest }) {
  const texts = useOperatorTexts().requests;
  const common = useTexts();
  const { language } = useLanguage();
  const [asking, setAsking] = useState<'grant' | 'decline' | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const { onDecided } = use(Waiting);
  const audio = (ms: number) => formatAudio(ms, common);
  const who = request.requested_by ?? texts.erasedPerson;
  const asked = formatDateTime(request.requested_at, language);
  return (
    <li className="grid gap-3 py-4 first:pt-0 last:pb-0 md:grid-cols-[1fr_auto] md:items-center">
      <div className={`grid min-w-0 gap-1 ${said === null ? '' : 'stale'}`}>
        <h2 className="text-base wrap-anywhere">
          <AccountLink id={request.account_id} name={request.account_name} />
        </h2>
        <p className="font-medium">{texts.asked(audio(request.requested_ms))}</p>
        <p className="max-w-[68ch] text-sm wrap-anywhere whitespace-pre-line">
          {request.message === '' ? texts.noMessage : request.message}
        </p>
        <p className="text-xs text-ink-3">
          {/* An account without a name of its own has the address of its first owner. */}
          {who === request.account_name ? asked : texts.by(who, asked)}
          {' · '}
          {texts.balance(audio(request.available_ms), audio(request.week_ms))}
        </p>
        {request.decided_at !== null && (
          <p className="text-sm text-ink-2">
            {request.granted_ms === null
              ? texts.declined
              : texts.granted(audio(request.granted_ms))}{' '}
            {request.reply} {texts.decided(formatDateTime(request.decided_at, language))}
          </p>
        )}
      </div>
      {request.status === 'open' && said === null && (
        <div className="flex gap-2">
          <Button kind="danger" onClick={() => setAsking('decline')}>
            {texts.decline}
            <span className="sr-only">{request.account_name}</span>
          </Button>
          <Button kind="primary" onClick={() => setAsking('grant')}>
            {texts.grant}
            <span className="sr-only">{request.account_name}</span>
          </Button>
        </div>
      )}
      <p role="status" className="empty:hidden">
        {said !== null && <Badge tone="good">{said}</Badge>}
      </p>
      {asking !== null && (
        <Decide
          request={request}
          isGrant={asking === 'grant'}
          onDone={(sentence) => {
            setAsking(null);
            setSaid(sentence);
            void onDecided();
          }}
          onClose={() => setAsking(null)}
        />
      )}
    </li>
  );
}

function Decide(props: {
  request: OperatorRequest;
  isGrant: boolean;
  onDone: (sentence: string) => void;
  onClose: () => void;
}) {
  const texts = useOperatorTexts();
  const common = useTexts();
  const { request, isGrant } = props;
  const [typed, setTyped] = useState(String(request.requested_ms / 60_000));
  const minutes = isGrant ? parseMinutes(typed) : null;
  const { requests } = texts;
  return (
    <ReasonDialog
      title={(isGrant ? requests.grantTitle : requests.declineTitle)(request.account_name)}
      hint={texts.reasonToCustomer}
      action={isGrant ? requests.grant : requests.decline}
      kind={isGrant ? 'primary' : 'destroy'}
      isReady={!isGrant || minutes !== null}
      onConfirm={(reason) => post(`/operator/requests/${request.id}/decide`, { minutes, reason })}
      onDone={() =>
        props.onDone(
          minutes === null
            ? requests.declined
            : requests.granted(formatAudio(minutes * 60_000, common)),
        )
      }
      onClose={props.onClose}
    >
      {isGrant && <MinutesField hasHint value={typed} onChange={setTyped} />}
    </ReasonDialog>
  );
}
