import { useEffect, useRef, useState } from 'react';
import type { Device, DeviceList } from '@svc-asr/protocol/console/console.ts';
import { post } from '../../app/api.ts';
import { formatAgo, formatDateTime } from '../../app/format.ts';
import { useLanguage } from '../../app/language.tsx';
import { useAction } from '../../app/use-action.ts';
import { useLoad } from '../../app/use-load.ts';
import { Button } from '../../design/controls.tsx';
import { Badge, ErrorNotice, Loaded, Notice } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { useDeviceTexts, type DeviceTexts } from '../../texts/devices.ts';

/** The browsers in which the person is signed in. Any of the others can be signed out. */
export function DevicesSection({ operator }: { operator: boolean }) {
  const texts = useDeviceTexts();
  const { load, reload, set } = useLoad<DeviceList>('/devices');
  const [ended, setEnded] = useState<string | null>(null);
  const notice = useRef<HTMLDivElement>(null);
  // The button that had the focus is gone with its row.
  useEffect(() => {
    if (ended !== null) notice.current?.focus();
  }, [ended]);
  const signOut = useAction(async (device: Device) => {
    setEnded(null);
    set(await post<DeviceList>(`/devices/${device.id}/sign-out`));
    setEnded(nameOf(device, texts));
  });
  return (
    <Card title={texts.title} lead={operator ? texts.leadOperator : texts.lead}>
      <div className="grid gap-3">
        <Loaded load={load} onRetry={() => void reload()}>
          {({ data, now }) => (
            <ul className="divide-y divide-line">
              {data.map((device) => (
                <DeviceRow
                  key={device.id}
                  device={device}
                  now={now}
                  onSignOut={() => signOut.run(device)}
                />
              ))}
            </ul>
          )}
        </Loaded>
        {ended !== null && (
          <div ref={notice} tabIndex={-1} className="rounded-md outline-offset-2">
            <Notice tone="good">{texts.signedOut(ended)}</Notice>
          </div>
        )}
        <ErrorNotice error={signOut.error} />
      </div>
    </Card>
  );
}

function DeviceRow(props: { device: Device; now: string; onSignOut: () => void }) {
  const { device, now } = props;
  const texts = useDeviceTexts();
  const { language } = useLanguage();
  const name = nameOf(device, texts);
  return (
    <li className="flex items-center justify-between gap-4 py-3">
      <div className="min-w-0">
        <p className="wrap-anywhere">{name}</p>
        <p className="text-xs text-ink-3">
          {texts.seen(formatAgo({ at: device.last_seen_at, now, language }))} ·{' '}
          {texts.since(formatDateTime(device.signed_in_at, language))} {texts[device.verified_by]}
        </p>
      </div>
      {device.current ? (
        <Badge tone="good">{texts.current}</Badge>
      ) : (
        <Button kind="quiet" className="shrink-0" onClick={props.onSignOut}>
          {texts.signOut}
          <span className="sr-only">{name}</span>
        </Button>
      )}
    </li>
  );
}

function nameOf({ client, system }: Device, texts: DeviceTexts): string {
  if (client === null) return system ?? texts.unknown;
  return system === null ? client : texts.on(client, system);
}
