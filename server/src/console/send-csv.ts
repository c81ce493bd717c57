import type { FastifyReply } from 'fastify';
import { writeCsv, type CsvValue } from '../platform/csv.ts';

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
