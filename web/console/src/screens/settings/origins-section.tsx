import { useState, type FormEvent } from 'react';
import type { Me, Settings } from '@svc-asr/protocol/console/console.ts';
import { post } from '../../app/api.ts';
import { useTexts } from '../../app/language.tsx';
import { useAction } from '../../app/use-action.ts';
import { Button, Field } from '../../design/controls.tsx';
import { ErrorNotice, Notice } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { parseOrigins } from './origins.ts';

export function OriginsSection(props: {
  me: Me;
  origins: string[];
  onChanged: (settings: Settings) => void;
}) {
  const texts = useTexts();
  const [text, setText] = useState(props.origins.join('\n'));
  const [invalid, setInvalid] = useState<string | null>(null);
  const [saved, setSaved] = useState(false);
  const save = useAction(async (origins: string[]) => {
    const body = { allowed_origins: origins };
    const settings = await post<Settings>('/settings/origins', body);
    setText(settings.allowed_origins.join('\n'));
    setSaved(true);
    props.onChanged(settings);
  });
  function submit(event: FormEvent): void {
    event.preventDefault();
    const parsed = parseOrigins(text);
    setSaved(false);
    setInvalid('invalid' in parsed ? parsed.invalid : null);
    if ('origins' in parsed) save.run(parsed.origins);
  }
  const owner = props.me.account?.role === 'owner';
  return (
    <Card title={texts.settings.origins} lead={texts.settings.originsLead}>
      <form noValidate onSubmit={submit} className="grid max-w-xl gap-4">
        <Field
          label={texts.settings.originsLabel}
          hint={texts.settings.originsHint}
          error={invalid === null ? null : texts.settings.originsInvalid(invalid)}
        >
          {(control) => (
            <textarea
              {...control}
              rows={3}
              spellCheck={false}
              readOnly={!owner}
              className="input font-mono text-sm"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <ErrorNotice error={save.error} />
        {saved && <Notice tone="good">{texts.common.saved}</Notice>}
        <div>
          <Button type="submit" busy={save.busy} disabled={!owner}>
            {texts.common.save}
          </Button>
        </div>
      </form>
    </Card>
  );
}
