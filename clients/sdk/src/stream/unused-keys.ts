/**
 * Idempotency keys of a page's reservations that no stream has used. A page whose socket failed to open can't release
 * its reservation, which would refuse the next one for a minute. With the same key the next request gets the same
 * session instead. The keys survive a reload, in the tab's session storage.
 */
const STORAGE_NAME = 'svc-asr.unused-keys';
/** By the address of the session server. */
const unused = restore();
const bySession = new Map<string, { readonly url: string; readonly key: string }>();

/**
 * Returns the key for a request to this address, and keeps it until `forgetSession`. Two streams that open at the same
 * time may get the same session. The second is refused with `session_credential_used` and asks for another.
 */
export function takeKey(
  url: string,
  request: { readonly why: string; readonly idempotencyKey: string },
): string {
  const left = unused.get(url);
  if (left !== undefined) return request.why === 'first' ? left : request.idempotencyKey;
  unused.set(url, request.idempotencyKey);
  store();
  return request.idempotencyKey;
}

/** The request with this key was answered with this session. */
export function nameSession(id: string, url: string, key: string): void {
  bySession.set(id, { url, key });
}

/** The session was used, so its key must not be sent again. */
export function forgetSession(id: string): void {
  const entry = bySession.get(id);
  bySession.delete(id);
  if (entry !== undefined && unused.get(entry.url) === entry.key) forgetKey(entry.url);
}

export function forgetKey(url: string): void {
  unused.delete(url);
  store();
}

function store(): void {
  try {
    sessionStorage.setItem(STORAGE_NAME, JSON.stringify([...unused]));
  } catch {
    // Not a browser, or one that denies the storage. The keys stay in memory.
  }
}

function restore(): Map<string, string> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(STORAGE_NAME) ?? '[]'));
  } catch {
    return new Map();
  }
}
