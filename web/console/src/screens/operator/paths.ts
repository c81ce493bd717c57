/** Addresses of the operators' pages. */
export const OPERATOR_PATHS = {
  start: '/app/operator',
  waitlist: '/app/operator/waitlist',
  accounts: '/app/operator/accounts',
  requests: '/app/operator/requests',
  live: '/app/operator/live',
  nodes: '/app/operator/nodes',
  failures: '/app/operator/failures',
  ledger: '/app/operator/ledger',
  audit: '/app/operator/audit-log',
} as const;
export type OperatorPlace = keyof typeof OPERATOR_PATHS;

export const OPERATOR_PLACES = [
  'start',
  'waitlist',
  'accounts',
  'requests',
  'live',
  'nodes',
  'failures',
  'ledger',
  'audit',
] as const satisfies readonly OperatorPlace[];

/** A page with a query, without the parts that are null. */
export function at(path: string, query: Readonly<Record<string, string | null>> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== null) search.set(name, value);
  return `${path}${search.size === 0 ? '' : `?${search}`}`;
}
