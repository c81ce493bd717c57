import { useState } from 'react';
import type {
  ConsoleKey,
  KeyList as KeyListBody,
  Me,
  NewKey,
} from '@svc-asr/protocol/console/console.ts';
import { post } from '../../app/api.ts';
import { formatDateTime } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Button } from '../../design/controls.tsx';
import { Empty, Loaded, Notice } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { ConfirmDialog } from '../../design/confirm-dialog.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { isInUse, nameOf } from './describe-key.ts';
import { KeyList } from './key-list.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { RenameKeyDialog } from './rename-key-dialog.tsx';

type Step =
  | { at: 'list' }
  | { at: 'create' }
  | { at: 'rename'; key: ConsoleKey }
  | { at: 'rotate'; key: ConsoleKey }
  | { at: 'revoke'; key: ConsoleKey }
  | { at: 'stored'; created: NewKey };

export function KeysScreen({ me }: { me: Me }) {
  const texts = useTexts();
  const { load, reload } = useLoad<KeyListBody>('/keys');
  const [step, setStep] = useState<Step>({ at: 'list' });
  const [revoked, setRevoked] = useState<string | null>(null);
  const now = load.state === 'ready' ? load.data.now : new Date().toISOString();
  const owner = me.account?.role === 'owner';
  const full = load.state === 'ready' && !load.data.may_create;
  const back = () => setStep({ at: 'list' });
  async function revoke(key: ConsoleKey): Promise<void> {
    await post(`/keys/${key.id}/revoke`);
    setRevoked(nameOf(key));
    back();
    await reload();
  }
  async function rotate(key: ConsoleKey): Promise<void> {
    setStep({ at: 'stored', created: await post<NewKey>(`/keys/${key.id}/rotate`) });
    await reload();
  }
  return (
    <>
      <PageHead title={texts.keys.title} lead={texts.keys.lead}>
        <Button
          kind="primary"
          icon="plus"
          disabled={!owner || full}
          onClick={() => setStep({ at: 'create' })}
        >
          {texts.keys.create}
        </Button>
      </PageHead>
      <div className="grid gap-4">
        {!owner && <Notice tone="info">{texts.common.ownerOnly}</Notice>}
        {revoked !== null && <Notice tone="good">{texts.keys.revoked(revoked)}</Notice>}
        <Card>
          <Loaded load={load} onRetry={() => void reload()}>
            {(list) =>
              list.data.length === 0 ? (
                <Empty icon="keys" title={texts.keys.emptyTitle} text={texts.keys.empty} />
              ) : (
                <KeyList
                  keys={list.data}
                  mayChange={owner}
                  now={list.now}
                  onRename={(key) => setStep({ at: 'rename', key })}
                  onRotate={(key) => setStep({ at: 'rotate', key })}
                  onRevoke={(key) => setStep({ at: 'revoke', key })}
                />
              )
            }
          </Loaded>
        </Card>
        {/* Below the list, which it would push down when it arrives. */}
        {owner && load.state === 'ready' && full && (
          <Notice tone="info">{texts.keys.limit(load.data.limit)}</Notice>
        )}
      </div>
      {step.at === 'create' && (
        <CreateKeyDialog
          onClose={back}
          onCreated={(created) => {
            setRevoked(null);
            setStep({ at: 'stored', created });
            void reload();
          }}
        />
      )}
      {step.at === 'rename' && (
        <RenameKeyDialog
          apiKey={step.key}
          onClose={back}
          onRenamed={async () => {
            back();
            await reload();
          }}
        />
      )}
      {step.at === 'rotate' && (
        <ConfirmDialog
          {...texts.keys.confirm.rotate}
          title={texts.keys.confirm.rotate.title(nameOf(step.key))}
          lead={<KeyLead apiKey={step.key} lead={texts.keys.confirm.rotate.lead} />}
          kind="primary"
          onConfirm={() => rotate(step.key)}
          onClose={back}
        />
      )}
      {step.at === 'revoke' && (
        <ConfirmDialog
          {...texts.keys.confirm.revoke}
          title={texts.keys.confirm.revoke.title(nameOf(step.key))}
          lead={<KeyLead apiKey={step.key} lead={texts.keys.confirm.revoke.lead} />}
          kind="destroy"
          {...(isInUse(step.key, now)
            ? { typed: { label: texts.keys.typeLast, expected: step.key.hint.slice(-4) } }
            : {})}
          onConfirm={() => revoke(step.key)}
          onClose={back}
        />
      )}
      {step.at === 'stored' && <NewKeyDialog created={step.created} onStored={back} />}
    </>
  );
}

/** Names the key by its prefix, which its owner can compare with their server's settings. */
function KeyLead({ apiKey, lead }: { apiKey: ConsoleKey; lead: string }) {
  const texts = useTexts();
  const { language } = useLanguage();
  const used = apiKey.last_used_at;
  return (
    <>
      <p>
        <code className="text-ink">{apiKey.hint}…</code>
        {used !== null && ` · ${texts.keys.columns.lastUsed} ${formatDateTime(used, language)}`}
      </p>
      <p>{lead}</p>
    </>
  );
}
