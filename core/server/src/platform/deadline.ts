import { ApiError } from './api-error.ts';

/** Callers get a response within this time, even if the database hangs. */
const ANSWER_MS = 2_000;

/** Returns the result of the work, or throws 503 after the deadline. Late results are discarded. */
export function withinDeadline<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new ApiError('service_unavailable')), ANSWER_MS);
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
