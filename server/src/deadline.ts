import { ApiError } from './errors.ts';

/** A caller hears from us within this, whatever the database does. */
const ANSWER_MS = 2_000;

/** The work's own result, or 503 when it takes too long; what the work does later is then nobody's news. */
export function withinDeadline<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new ApiError('service_unavailable')), ANSWER_MS);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
