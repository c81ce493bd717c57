import type { AuditLogEntry } from '@svc-asr/protocol/console/operator.ts';

type Values = Readonly<Record<string, unknown>>;

/** What an entry of the audit log changed, such as `status: active → suspended`, and why. */
export function describeChange(entry: Pick<AuditLogEntry, 'before' | 'after'>): {
  changes: string[];
  reason: string | null;
} {
  const before = parse(entry.before);
  const { reason, ...after } = parse(entry.after);
  const created = Object.keys(after).filter((name) => after[name] !== null);
  const names = new Set([...Object.keys(before), ...created]);
  const changes = [...names].map((name) =>
    name in before
      ? `${name}: ${show(before[name])} → ${show(after[name])}`
      : `${name}: ${show(after[name])}`,
  );
  return { changes, reason: typeof reason === 'string' ? reason : null };
}

function show(value: unknown): string {
  if (value === undefined || value === null) return '–';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function parse(text: string | null): Values {
  return text === null ? {} : JSON.parse(text);
}
