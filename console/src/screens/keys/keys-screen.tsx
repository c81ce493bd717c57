import { useState } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console-constants.ts';
import type { ConsoleKey, KeyList as KeyListBody, Me, NewKey } from '@svc-asr/protocol/console.ts';
import { post } from '../../app/api.ts';
import { useTexts } from '../../app/language.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Button } from '../../design/controls.tsx';
import { Empty, Loaded, Notice } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { ConfirmDialog } from '../../design/confirm-dialog.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyList } from './key-list.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';

type Step =
  | { at: 'list' }
  | { at: 'create' }
  | { at: 'rotate'; key: ConsoleKey }
  | { at: 'revoke'; key: ConsoleKey }
  | { at: 'stored'; created: NewKey };

export function KeysScreen({ me }: { me: Me }) {
  const texts = useTexts();
  const { load, reload } = useLoad<KeyListBody>('/keys');
  const [step, setStep] = useState<Step>({ at: 'list' });
  const [revoked, setRevoked] = useState<string | null>(null);
  const live = load.state === 'ready' ? load.data.data.filter((key) => key.status === 'live') : [];
  const owner = me.account?.role === 'owner';
  const full = live.length >= CONSOLE_LIMITS.liveKeys;
  const back = () => setStep({ at: 'list' });
  async function revoke(key: ConsoleKey): Promise<void> {
    await post(`/keys/${key.id}/revoke`);
    setRevoked(key.name);
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
        {owner && full && <Notice tone="info">{texts.keys.limit}</Notice>}
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
                  mayRotate={owner && !full}
                  onRotate={(key) => setStep({ at: 'rotate', key })}
                  onRevoke={(key) => setStep({ at: 'revoke', key })}
                />
              )
            }
          </Loaded>
        </Card>
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
      {(step.at === 'rotate' || step.at === 'revoke') && (
        <ConfirmDialog
          {...texts.keys.confirm[step.at]}
          title={texts.keys.confirm[step.at].title(step.key.name)}
          kind={step.at === 'rotate' ? 'primary' : 'destroy'}
          onConfirm={() => (step.at === 'rotate' ? rotate(step.key) : revoke(step.key))}
          onClose={back}
        />
      )}
      {step.at === 'stored' && <NewKeyDialog created={step.created} onStored={back} />}
    </>
  );
}
