/** A nightly audit that is older than this was missed. */
const OLD_MS = 36 * 3_600_000;

export function isOldAudit(ranAt: string | null, now: string): boolean {
  return ranAt === null || Date.parse(now) - Date.parse(ranAt) > OLD_MS;
}
