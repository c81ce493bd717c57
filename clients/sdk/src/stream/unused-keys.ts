/**
 * Idempotency keys of a page's reservations that no stream has used. A page whose socket failed to open can't release
 * its reservation, which would refuse the next one for a minute. With the same key the next request gets the same
 * session instead. The keys survive a reload, in the tab's session storage.
 */
const STORAGE_NAME = 'svc-asr.unused-keys';
/** By the address of the session server. */
const unused = restore();
/** Forgets the key of a session. By its id. */
const forgetBySession = new Map<string, () => void>();

/**
 * Returns the key for a request to this address, and keeps it until `forgetSession`. Two streams that open at the same
 * time may get the same session. The second is refused with `session_credential_used` and asks for another.
 */
export function takeKey(
  url: string,
  { why, idempotencyKey }: { readonly why: string; readonly idempotencyKey: string },
): string {
  const left = unused.get(url);
  if (left !== undefined) return why === 'first' ? left : idempotencyKey;
  unused.set(url, idempotencyKey);
  store();
  return idempotencyKey;
}

/** The request with this key was answered with this session. */
export function nameSession(id: string, url: string, key: string): void {
  forgetBySession.set(id, () => {
    if (unused.get(url) === key) forgetKey(url);
  });
}

/** The session was used, so its key must not be sent again. */
export function forgetSession(id: string): void {
  forgetBySession.get(id)?.();
  forgetBySession.delete(id);
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
