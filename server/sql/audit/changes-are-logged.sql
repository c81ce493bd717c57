-- Every key, grant and adjustment since the audit log was introduced has an entry in it.
select 'api_key' as what, k.id as target
from api_keys k
where k.created_at > (select applied_at from schema_migrations where name = 'migrations/0036_audit_log.sql')
  and not exists (select from audit_log l where l.target = k.id and l.action = 'api_key.created')
union all
select 'credit', t.account_id || '/' || t.seq
from txn t
where t.kind <= 'adjust'
  and t.created_at > (select applied_at from schema_migrations where name = 'migrations/0036_audit_log.sql')
  and not exists (
    select from audit_log l
    where l.target = t.account_id || '/' || t.seq and l.action = 'credit.' || t.kind);
