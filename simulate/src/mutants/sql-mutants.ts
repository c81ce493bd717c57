import { LOST_ANSWER_BUGS, type SqlBug } from '@svc-asr/testing/ledger/sql-bugs.ts';
import { during, type Mutant } from './mutant.ts';

/** Bugs in the ledger's functions. They are planted in PGlite, because the model has no SQL. */
export const SQL_MUTANTS: readonly Mutant[] = [
  inSql(
    'sql-lost-reservation-forgotten',
    'A repeated reservation is not recognised.',
    LOST_ANSWER_BUGS.reservationForgotten,
  ),
  inSql(
    'sql-idempotency-key-ignored',
    'A repeated request makes a second reservation.',
    LOST_ANSWER_BUGS.idempotencyKeyIgnored,
  ),
  inSql(
    'sql-own-claim-not-recognised',
    'A repeated claim is refused as if another had won.',
    LOST_ANSWER_BUGS.ownClaimNotRecognised,
  ),
  inSql(
    'sql-credential-used-twice',
    'A used credential opens a second stream.',
    LOST_ANSWER_BUGS.credentialUsedTwice,
  ),
  inSql(
    'sql-second-close-charges-again',
    'A repeated close is charged again, without guards.',
    LOST_ANSWER_BUGS.secondCloseCharges,
  ),
  during(
    'database-rollback',
    inSql('sql-lost-close-never-ends', 'A session whose close was lost stays open for ever.', {
      in: 'is_orphan',
      changes: [{ from: "interval '20 minutes'", to: "interval '20 days'" }],
    }),
  ),
  during(
    ['node-death', 'machine-death'],
    inSql('sql-sweeper-mistakes-the-node', 'A dead node ends the sessions of another one.', {
      in: 'fail_orphans',
      changes: [
        { from: 'on n.id = s.node_id', to: 'on n.id = (select max(id) from nodes)' },
        { from: 'on n.id = v_session.node_id', to: 'on n.id = (select max(id) from nodes)' },
      ],
    }),
  ),
  during(
    ['node-death', 'machine-death'],
    inSql('sql-lease-too-long', 'A dead node locks its accounts out for 12 s.', {
      in: 'lease_length',
      changes: [{ from: '6 seconds', to: '12 seconds' }],
    }),
  ),
];

function inSql(name: string, about: string, sql: SqlBug): Mutant {
  return during('database-answers-lost', {
    name,
    about,
    changes: [],
    sql,
    faults: [],
  });
}
