-- What operators read about the ledger.

-- Audio that an account was charged for since a time. Transactions are numbered and dated under the account's lock, so
-- a binary search finds the first one without an index on the time.
create or replace function charged_since(p_account uuid, p_at timestamptz) returns bigint
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  v_low bigint := 1;
  v_high bigint;
  v_middle bigint;
  v_consumed bigint;
begin
  select last_seq + 1, consumed_ms into v_high, v_consumed from accounts where id = p_account;
  while v_low < v_high loop
    v_middle := (v_low + v_high) / 2;
    if (select created_at from txn where account_id = p_account and seq = v_middle) < p_at then
      v_low := v_middle + 1;
    else
      v_high := v_middle;
    end if;
  end loop;
  return v_consumed - coalesce(
    (select consumed_after_ms from txn where account_id = p_account and seq = v_high - 1), 0);
end
$$;

-- Stores what `svc-admin audit` found. Rows of invariants that no longer exist are removed by a complete run.
create or replace function record_audit(p_findings jsonb, p_is_complete boolean) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into ledger_audits as a (invariant, about, ran_at, took_ms, violations)
    select f.invariant, left(f.about, 1000), clock_timestamp(), f.took_ms, f.violations
    from jsonb_to_recordset(p_findings) f (invariant text, about text, took_ms integer, violations integer)
    on conflict (invariant) do update set about = excluded.about, ran_at = excluded.ran_at,
      took_ms = excluded.took_ms, violations = excluded.violations;
  if p_is_complete then
    delete from ledger_audits where invariant not in (
      select f.invariant from jsonb_to_recordset(p_findings) f (invariant text));
  end if;
end
$$;
