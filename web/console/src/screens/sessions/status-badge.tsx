import type { SessionStatus } from '@svc-asr/protocol';
import { useTexts } from '../../app/language.tsx';
import { Badge } from '../../design/feedback.tsx';

const TONES = {
  reserved: 'warn',
  active: 'good',
  completed: 'plain',
  failed: 'bad',
  expired: 'plain',
} as const satisfies Record<SessionStatus, string>;

export function StatusBadge({ status }: { status: SessionStatus }) {
  const texts = useTexts();
  return <Badge tone={TONES[status]}>{texts.status[status]}</Badge>;
}
