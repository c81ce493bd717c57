import type { ConsoleErrorCode } from '@svc-asr/protocol/console/console.ts';
import type { FastifyRequest } from 'fastify';
import { queryRows, type Column, type Statement } from '../../platform/database/statement.ts';
import { audited, signedInOf } from '../request/guard.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';

/** A call of a function that takes the token of the operator's session first. */
export type OperatorStatement<Done extends string> = Statement<{
  readonly outcome: Column<Done | ConsoleErrorCode>;
}>;

/** Changes something in the name of the signed-in operator, with audit entries. Returns the outcome. */
export async function changeAsOperator<Done extends string>(
  deps: ConsoleDeps,
  request: FastifyRequest,
  call: { readonly statement: OperatorStatement<Done>; readonly values: readonly unknown[] },
): Promise<Done | ConsoleErrorCode> {
  const [row] = await audited(deps.db, request, (db) =>
    queryRows(db, call.statement, [signedInOf(request).token, ...call.values]),
  );
  return row?.outcome ?? 'not_found';
}

/** The same, for one change that must succeed. */
export async function mustChangeAsOperator(
  deps: ConsoleDeps,
  request: FastifyRequest,
  call: { readonly statement: OperatorStatement<'done'>; readonly values: readonly unknown[] },
): Promise<Record<string, never>> {
  const outcome = await changeAsOperator(deps, request, call);
  if (outcome !== 'done') throw new ConsoleError(outcome);
  return {};
}
