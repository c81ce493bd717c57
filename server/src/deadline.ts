import { ApiError } from './errors.ts';

/** A caller hears from us within this, whatever the database does. */
const ANSWER_MS = 2_000;

/** The work's own result, or 503 when it takes too long; what the work does later is then nobody's news. */
export async function withinDeadline<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new ApiError('service_unavailable')), ANSWER_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
