import type { ModelId } from '@svc-asr/protocol/constants.ts';
import type { UsageLine } from '@svc-asr/protocol/console/usage.ts';

export interface Sum {
  readonly name: string;
  readonly keyId: string | null;
  readonly keyName: string | null;
  readonly model: ModelId;
  readonly billableMs: number;
  readonly sessions: number;
}

/** Adds up the days of each key and model, largest first. */
export function addUp(lines: readonly UsageLine[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const line of lines) {
    const name = `${line.key_id ?? ''} ${line.model}`;
    const before = sums.get(name);
    sums.set(name, {
      name,
      keyId: line.key_id,
      keyName: line.key_name,
      model: line.model,
      billableMs: (before?.billableMs ?? 0) + line.billable_ms,
      sessions: (before?.sessions ?? 0) + line.sessions,
    });
  }
  return [...sums.values()].toSorted((a, b) => b.billableMs - a.billableMs);
}
