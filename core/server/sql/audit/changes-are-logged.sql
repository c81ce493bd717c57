-- Every key, grant and adjustment has an entry in the audit log.
select 'api_key' as what, k.id as target
from api_keys k
where not exists (select from audit_log l where l.target = k.id and l.action = 'api_key.created')
union all
select 'credit', t.account_id || '/' || t.seq
from txn t
where t.kind in ('grant', 'adjust')
  and not exists (
    select from audit_log l
    where l.target = t.account_id || '/' || t.seq and l.action = 'credit.' || t.kind);
