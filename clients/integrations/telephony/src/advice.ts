/** What the operator can do about a failed or waiting leg, by error code. */
const ADVICE: Readonly<Record<string, string>> = {
  concurrency_limit_exceeded:
    "The account's limit of sessions at once is reached. Every leg needs one. Ask the service's operator for a higher " +
    'limit, or send one track per call.',
  insufficient_credits: 'The account has no audio credit left. Add credit.',
  account_inactive: "The account is suspended. Ask the service's operator.",
  keyterms_ignored:
    'The service ignores some of the keyterms: the model takes none, or they are invalid, repeated or more than 100.',
  model_scope_denied: 'The API key may not use this language. Create a key that may.',
};

const WRONG_KEY = 'The service refused the API key. Check SVC_API_KEY and SVC_BASE_URL.';
const OTHERWISE = 'See docs/errors.md for the code.';

export function adviceFor(code: string): string {
  if (code.endsWith('_api_key')) return WRONG_KEY;
  return Object.hasOwn(ADVICE, code) ? (ADVICE[code] ?? OTHERWISE) : OTHERWISE;
}
