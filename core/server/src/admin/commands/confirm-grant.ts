import { confirm } from '../confirm.ts';
import type { AdminEnvironment } from '../context.ts';

/** More than this is asked about, because it is usually a typing error. */
const ASK_ABOVE_MS = 1_000 * 3_600_000;

/** Throws unless the amount is usual, `--yes` was given or a person answers "yes". */
export async function confirmGrant(
  environment: AdminEnvironment,
  grant: { readonly ms: number; readonly account: string; readonly yes: true | undefined },
): Promise<void> {
  const hours = Math.round(grant.ms / 3_600_000).toLocaleString('en');
  const question = `This adds ${hours} hours of audio to ${grant.account}.`;
  await confirm(environment, { question, yes: grant.yes === true || grant.ms <= ASK_ABOVE_MS });
}
