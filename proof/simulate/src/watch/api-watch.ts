import type { HttpAnswer, HttpServer } from '../virtual/http.ts';
import { scheduler } from '../virtual/scheduler.ts';

/** Callers get an answer within two seconds, even if the database hangs. The rest is for the drift of clocks. */
const ANSWER_MS_MAX = 2_100;

/** An API process whose answers are checked: they are in time, and none is an internal error. */
export function watchApi(server: HttpServer, report: (violation: string) => void): HttpServer {
  const { owner } = server;
  async function answer(request: Parameters<HttpServer['answer']>[0]): Promise<HttpAnswer> {
    const beganMs = scheduler.nowMs;
    const answered = await server.answer(request);
    const tookMs = Math.round(scheduler.nowMs - beganMs);
    if (tookMs > ANSWER_MS_MAX) report(`${owner.name} answered after ${tookMs} ms`);
    if (answered.status === 500) report(`${owner.name} answered 500`);
    return answered;
  }
  return { owner, answer };
}
