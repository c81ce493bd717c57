import { startTransition, useEffect, useState } from 'react';

/** As many rows as a large screen shows. */
const FIRST_ROWS = 20;

/** Returns the first rows, and all rows after these are painted. A page of fifty rows takes twice as long to paint. */
export function useFirstRows<T>(rows: readonly T[]): readonly T[] {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    const frame = requestAnimationFrame(() => startTransition(() => setPainted(true)));
    return () => cancelAnimationFrame(frame);
  }, []);
  return isPainted ? rows : rows.slice(0, FIRST_ROWS);
}
