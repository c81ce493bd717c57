import type { Queryable } from '../platform/database/db.ts';
import { balance } from './reports/balance.ts';
import { claim, giveBack } from './claim.ts';
import { close } from './close.ts';
import { adjust, grant } from './credit.ts';
import { reserve } from './reserve.ts';
import { sweep } from './sweep.ts';
import type {
  Balance,
  ClaimInput,
  ClaimResult,
  CloseInput,
  CloseResult,
  CreditInput,
  CreditResult,
  GiveBackInput,
  GiveBackResult,
  ReserveInput,
  ReserveResult,
  SweepOptions,
  SweepResult,
} from './types.ts';

export type * from './types.ts';

/**
 * The only place that changes balances. Every method is one SQL function, one round trip and one
 * transaction. It is safe to repeat when the response was lost: the method itself retries once with the
 * same ids. Rejects with a database error when the database is unavailable (`isDatabaseUnavailable`).
 */
export interface Ledger {
  reserve(input: ReserveInput): Promise<ReserveResult>;
  claim(input: ClaimInput): Promise<ClaimResult>;
  giveBack(input: GiveBackInput): Promise<GiveBackResult>;
  /**
   * `already` means that the session was settled before, by this call's first attempt or by the
   * sweeper.
   */
  close(input: CloseInput): Promise<CloseResult>;
  balance(accountId: string): Promise<Balance | null>;
  grant(input: CreditInput): Promise<CreditResult>;
  adjust(input: CreditInput): Promise<CreditResult>;
  sweep(options?: SweepOptions): Promise<SweepResult>;
}

export function createLedger(db: Queryable): Ledger {
  return {
    reserve: (input) => reserve(db, input),
    claim: (input) => claim(db, input),
    giveBack: (input) => giveBack(db, input),
    close: (input) => close(db, input),
    balance: (accountId) => balance(db, accountId),
    grant: (input) => grant(db, input),
    adjust: (input) => adjust(db, input),
    sweep: (options) => sweep(db, options),
  };
}
