-- One role for each job. They cannot log in: a deployment grants them to its own users, and what each may do
-- stands in src/ledger/sql/90_grants.sql. Roles belong to the whole server, so another database may have made
-- them already, or be making them at this moment.

do $$
declare
  v_role text;
begin
  foreach v_role in array array[
    'svc_api', 'svc_node', 'svc_sweeper', 'svc_console', 'svc_auditor', 'svc_operator', 'svc_all'
  ] loop
    begin
      if not exists (select from pg_roles where rolname = v_role) then
        execute format('create role %I nologin', v_role);
      end if;
    exception when duplicate_object or unique_violation then
      null;
    end;
  end loop;
  -- One box, one process: it does the work of all four.
  begin
    grant svc_api, svc_node, svc_sweeper, svc_console to svc_all;
  exception when unique_violation then
    null;
  end;
end
$$;
