import { during, type Mutant, type SqlChange } from './mutant.ts';

/** Bugs in the ledger's functions. They are planted in PGlite, because the model has no SQL. */
export const SQL_MUTANTS: readonly Mutant[] = [
  inSql('sql-lost-reservation-forgotten', 'A repeated reservation is not recognised.', {
    in: 'reserve_session',
    changes: [{ from: 'elsif p_retry then', to: 'elsif false then' }],
  }),
  inSql('sql-idempotency-key-ignored', 'A repeated request makes a second reservation.', {
    in: 'reserve_session',
    changes: [{ from: 'i.key_hash = p_key_hash', to: 'false' }],
  }),
  inSql('sql-own-claim-not-recognised', 'A repeated claim is refused as if another had won.', {
    in: 'claim_session',
    changes: [{ from: 'v_session.attempt_id = p_attempt', to: 'false' }],
  }),
  inSql('sql-credential-used-twice', 'A used credential opens a second stream.', {
    in: 'claim_session',
    changes: [{ from: "else 'used'", to: "else 'claimed'" }],
  }),
  inSql('sql-second-close-charges-again', 'A repeated close is charged again, without guards.', {
    in: 'close_session',
    changes: [
      {
        from: 'if v_session.completed_at is not null then',
        to: `if v_session.completed_at is not null then
          perform post(p_account, 'complete', p_session, clock_timestamp(),
            -v_session.billable_ms, 0, v_session.billable_ms);`,
      },
    ],
    without: ['index txn_session', 'trigger txn_is_right on txn'],
  }),
];

function inSql(name: string, about: string, sql: SqlChange): Mutant {
  return during('database-answers-lost', {
    name,
    about,
    changes: [],
    sql,
    faults: [],
  });
}
