import type { FastifyReply } from 'fastify';
import { ApiError } from '../../platform/api-error.ts';
import { type CsvValue, writeCsv } from '../../platform/csv.ts';

/** Downloads that run or wait. */
const DOWNLOADS_MAX = 20;
/** Of one account, so that it leaves places for others. */
const ACCOUNT_DOWNLOADS_MAX = 4;
const RETRY_AFTER_SECONDS = 10;

/** Runs downloads one after the other. */
export interface Downloads {
  run<T>(accountId: string, read: () => Promise<T>): Promise<T>;
}

/**
 * A download reads up to 10,000 rows of several tables. One at a time needs one of the console's few connections; more
 * would leave the pages without any.
 */
export function createDownloads(): Downloads {
  /** The account of each download that runs or waits. */
  const accounts: string[] = [];
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(accountId, read) {
      const own = accounts.filter((id) => id === accountId).length;
      if (accounts.length >= DOWNLOADS_MAX || own >= ACCOUNT_DOWNLOADS_MAX) {
        throw new ApiError('request_rate_exceeded', { retryAfterSeconds: RETRY_AFTER_SECONDS });
      }
      accounts.push(accountId);
      const mine = last.then(read).finally(() => {
        accounts.splice(accounts.indexOf(accountId), 1);
      });
      last = mine.catch(() => undefined);
      return mine;
    },
  };
}

/** With this mark spreadsheets read a file as UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF';

/** Sends a table as a file to save. */
export function sendCsv(
  reply: FastifyReply,
  table: { name: string; columns: readonly string[]; rows: readonly (readonly CsvValue[])[] },
): FastifyReply {
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${table.name}.csv"`)
    .send(`${BYTE_ORDER_MARK}${writeCsv(table.columns, table.rows)}`);
}
