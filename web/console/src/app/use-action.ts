import { useState } from 'react';

/** Runs an action started by the user and tracks whether it is busy and its error. Ignores clicks while busy. */
export function useAction<A extends unknown[]>(action: (...args: A) => Promise<void>) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  async function run(...args: A): Promise<void> {
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await action(...args);
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  }
  return { busy, error, run: (...args: A) => void run(...args), clear: () => setError(null) };
}
