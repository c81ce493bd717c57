import type { Outcome } from '@svc-asr/protocol/console/outcome.ts';
import { useTexts } from '../../app/language.tsx';
import { Badge } from '../../design/feedback.tsx';

const TONES = {
  reserved: 'warn',
  active: 'good',
  completed: 'plain',
  error: 'bad',
  failed: 'bad',
  expired: 'plain',
} as const satisfies Record<Outcome, string>;

export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  const texts = useTexts();
  return <Badge tone={TONES[outcome]}>{texts.status[outcome]}</Badge>;
}
