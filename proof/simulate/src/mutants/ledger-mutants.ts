import { during, mutant, type Mutant } from './mutant.ts';

const GUARD = 'core/server/src/ledger/history-guard.ts';

/** Bugs in what processes tell the database, and in leases and periodic tasks. */
export const LEDGER_MUTANTS: readonly Mutant[] = [
  during(
    'database-rollback',
    mutant(
      'history-not-guarded',
      'A database that lost history is used as before.',
      {
        in: GUARD,
        from: 'return this.#isRolledBack ? Promise.reject(refusal()) : work();',
        to: 'return work();',
      },
      {
        in: GUARD,
        from: 'this.#refuse();\n        throw refusal();',
        to: 'this.#refuse();\n        return;',
      },
    ),
  ),
  during(
    'database-rollback',
    mutant('history-without-claims', 'A database that lost only a claim is used as before.', {
      in: GUARD,
      from: `if (result.outcome === 'claimed') {`,
      to: `if (result.outcome !== 'claimed') {`,
    }),
  ),
  mutant('history-position-too-high', 'A process expects a mark that it never set.', {
    in: GUARD,
    from: `this.#position = outcome === 'accepted' ? marked : Math.max(this.#position, marked);`,
    to: 'this.#position = marked + 1;',
  }),
  during(
    'database-answers-lost',
    mutant('retry-not-marked', 'A repeated reservation does not say that it is a retry.', {
      in: 'core/server/src/ledger/reserve.ts',
      from: '      again,\n',
      to: '      again && false,\n',
    }),
  ),
  during(
    'database-answers-lost',
    mutant('claim-retried-as-another', 'A repeated claim names another upgrade.', {
      in: 'core/server/src/ledger/claim.ts',
      from: '      upgradeId,\n      input.nodeId,',
      to: '      upgradeId === input.upgradeId ? randomUUID() : upgradeId,\n      input.nodeId,',
    }),
  ),
  mutant('close-without-samples', 'Accepted audio is not reported with the close.', {
    in: 'core/server/src/ledger/close.ts',
    from: '      input.samples,\n',
    to: '      Math.min(input.samples, 1),\n',
  }),
  mutant('periodic-task-dies', 'A periodic task is not repeated after a failed run.', {
    in: 'core/server/src/platform/periodic.ts',
    from: 'if (stopping.signal.aborted) return;\n    const waitMs',
    to: 'if (stopping.signal.aborted || isFailing) return;\n    const waitMs',
  }),
  during(
    'database-unreachable',
    mutant('answer-without-deadline', 'A caller waits for ten times as long as promised.', {
      in: 'core/server/src/platform/deadline.ts',
      from: 'const ANSWER_MS = 2_000;',
      to: 'const ANSWER_MS = 20_000;',
    }),
  ),
  during(
    'database-unreachable',
    mutant('lease-without-end', 'A process whose lease has expired takes new streams.', {
      in: 'core/server/src/nodes/node-lease.ts',
      from: 'return !this.#superseded && this.#state.leaseAgeMs < LEASE_MS;',
      to: 'return true;',
    }),
  ),
  during(
    ['database-rollback', 'machine-death'],
    mutant(
      'gives-way-to-a-predecessor',
      'A node takes an earlier process, which died, for its successor.',
      {
        in: 'core/server/src/nodes/node-lease.ts',
        from: '!known.is_held && known.age_ms > this.#ageMs',
        to: '!known.is_held && known.age_ms < 0',
      },
    ),
  ),
  during(
    'database-rollback',
    mutant('not-registered-again', 'A process that the database forgot does not register again.', {
      in: 'core/server/src/nodes/node-lease.ts',
      from: 'const isForgotten = known === null || known.epoch < epoch;',
      to: 'if (known === null) return;\n    const isForgotten = false;',
    }),
  ),
  mutant('history-position-goes-back', 'A late answer makes a process forget a newer position.', {
    in: GUARD,
    from: `this.#position = outcome === 'accepted' ? marked : Math.max(this.#position, marked);`,
    to: 'this.#position = marked;',
  }),
  during(
    'database-rollback',
    mutant(
      'history-forgotten-with-a-refusal',
      'A process that refuses a database forgets why, and accepts it at the next check.',
      {
        in: GUARD,
        from: 'if (this.#isRolledBack) return;\n    this.#isRolledBack = true;',
        to: 'if (this.#isRolledBack) return;\n    this.#isRolledBack = true;\n    this.#position = 0;\n    this.#unmarked = [];',
      },
    ),
  ),
];
