/** A change of a SQL function that makes it wrong. */
export interface SqlBug {
  readonly in: string;
  readonly changes: readonly { readonly from: string; readonly to: string }[];
  /** Guards that would reject the broken function, and are dropped. */
  readonly without?: readonly string[];
}

/** Wrong implementations of the ledger's calls. They lose or double an effect when their response is lost. */
export const LOST_ANSWER_BUGS = {
  reservationForgotten: {
    in: 'reserve_session',
    changes: [{ from: 'elsif p_retry then', to: 'elsif false then' }],
  },
  idempotencyKeyIgnored: {
    in: 'reserve_session',
    changes: [{ from: 'i.key_hash = p_key_hash', to: 'false' }],
  },
  ownClaimNotRecognised: {
    in: 'claim_session',
    changes: [{ from: 'v_session.upgrade_id = p_upgrade', to: 'false' }],
  },
  credentialUsedTwice: {
    in: 'claim_session',
    changes: [{ from: "else 'used'", to: "else 'claimed'" }],
  },
  secondCloseCharges: {
    in: 'close_session',
    changes: [
      {
        from: 'if v_session.completed_at is not null then',
        to: `if v_session.completed_at is not null then
          perform post(p_account, 'complete', p_session, clock_timestamp(),
            -v_session.billable_ms, 0, v_session.billable_ms);`,
      },
    ],
    without: ['index txn_session', 'trigger txn_consistent on txn'],
  },
} as const satisfies Record<string, SqlBug>;
