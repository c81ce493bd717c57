import type { ConsoleKey } from '@svc-asr/protocol/console/console.ts';
import { formatAgo, formatDate, formatDateTime } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Button } from '../../design/controls.tsx';
import { Badge } from '../../design/feedback.tsx';
import { nameOf, rotationOf } from './describe-key.ts';

interface KeyActions {
  mayChange: boolean;
  /** The server's time. */
  now: string;
  onRename: (key: ConsoleKey) => void;
  onRotate: (key: ConsoleKey) => void;
  onRevoke: (key: ConsoleKey) => void;
}

export function KeyList({ keys, ...actions }: KeyActions & { keys: ConsoleKey[] }) {
  const texts = useTexts();
  const live = keys.filter((key) => key.status === 'live');
  const past = keys.filter((key) => key.status !== 'live');
  return (
    <div className="grid gap-4">
      {live.length > 0 && (
        <ul className="divide-y divide-line">
          {live.map((key) => (
            <KeyRow key={key.id} apiKey={key} keys={keys} {...actions} />
          ))}
        </ul>
      )}
      {past.length > 0 && (
        <details className="text-sm" open={live.length === 0}>
          <summary className="rounded-sm text-ink-2 underline underline-offset-4">
            {texts.keys.past(past.length)}
          </summary>
          <ul className="mt-2 divide-y divide-line">
            {past.map((key) => (
              <KeyRow key={key.id} apiKey={key} keys={keys} {...actions} />
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

function KeyRow({
  apiKey,
  keys,
  ...actions
}: KeyActions & { apiKey: ConsoleKey; keys: ConsoleKey[] }) {
  const texts = useTexts();
  const { language } = useLanguage();
  const live = apiKey.status === 'live';
  const facts = [
    [
      texts.keys.columns.models,
      apiKey.models.map((model) => texts.common.models[model]).join(', '),
    ],
    [
      texts.keys.columns.lastUsed,
      apiKey.last_used_at === null
        ? texts.common.neverUsed
        : formatDateTime(apiKey.last_used_at, language),
    ],
    [
      texts.keys.columns.expires,
      apiKey.expires_at === null
        ? texts.common.neverExpires
        : formatDate(apiKey.expires_at, language),
    ],
  ];
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 py-4 first:pt-1 last:pb-1">
      <div className="min-w-0">
        <h2 className="flex flex-wrap items-center gap-x-3 gap-y-1 text-base wrap-anywhere">
          {nameOf(apiKey)}
          <Badge tone={live ? 'good' : 'plain'}>{texts.keys.status[apiKey.status]}</Badge>
          <Rotation apiKey={apiKey} keys={keys} now={actions.now} />
        </h2>
        <p className="mt-1 flex flex-wrap gap-x-4 text-xs text-ink-3">
          {apiKey.name !== '' && <code>{apiKey.hint}…</code>}
          <span>{texts.keys.created(formatDateTime(apiKey.created_at, language))}</span>
        </p>
        <dl className="mt-2.5 flex flex-wrap gap-x-6 gap-y-1 text-sm">
          {facts.map(([name, value]) => (
            <div key={name} className="flex gap-1.5">
              <dt className="text-ink-3">{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </div>
      {live && actions.mayChange && (
        <div className="flex gap-2 max-sm:w-full max-sm:*:flex-1 max-sm:*:px-2">
          <Button kind="quiet" onClick={() => actions.onRename(apiKey)}>
            {texts.keys.renameDo}
            <span className="sr-only">{nameOf(apiKey)}</span>
          </Button>
          <Button
            disabled={rotationOf(apiKey, keys) !== null}
            onClick={() => actions.onRotate(apiKey)}
          >
            {texts.keys.rotate}
            <span className="sr-only">{nameOf(apiKey)}</span>
          </Button>
          <Button kind="danger" onClick={() => actions.onRevoke(apiKey)}>
            {texts.keys.revoke}
            <span className="sr-only">{nameOf(apiKey)}</span>
          </Button>
        </div>
      )}
    </li>
  );
}

/** Tells the two keys of a rotation apart. */
function Rotation(props: { apiKey: ConsoleKey; keys: ConsoleKey[]; now: string }) {
  const texts = useTexts();
  const { language } = useLanguage();
  const { apiKey, now } = props;
  const rotation = rotationOf(apiKey, props.keys);
  if (rotation === null) return null;
  if (rotation === 'new') return <Badge tone="good">{texts.keys.tags.new}</Badge>;
  const at = apiKey.last_used_at;
  return (
    <Badge tone="warn">
      {at === null
        ? texts.keys.tags.replacedUnused
        : texts.keys.tags.replaced(formatAgo({ at, now, language }))}
    </Badge>
  );
}
