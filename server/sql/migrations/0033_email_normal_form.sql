-- Email addresses are stored in one normal form: lower-case ASCII, made by
-- src/accounts/email-address.ts. PostgreSQL and JavaScript fold other letters differently, so
-- comparing two of our own foldings could take one person for another.

-- Nobody can be mailed at these, so they were never answered.
delete from waitlist
  where status = 'waiting' and (octet_length(email) <> length(email) or email ~ '[\x01-\x20\x7f]');
update waitlist set email = lower(email collate "C") where email <> lower(email collate "C");
update console_users set email = lower(email collate "C") where email <> lower(email collate "C");

do $$
declare
  v_count integer;
begin
  select count(*) into v_count from (
    select email from waitlist union all select email from console_users
  ) stored where octet_length(email) <> length(email) or email ~ '[\x01-\x20\x7f]';
  if v_count > 0 then
    raise exception '% stored email addresses are not printable ASCII: correct or delete them, then migrate again',
      v_count;
  end if;
end
$$;

alter table waitlist add constraint email_is_normal check (
  octet_length(email) = length(email) and email !~ '[\x01-\x20\x7f]'
  and email = lower(email collate "C"));
alter table console_users add constraint email_is_normal check (
  octet_length(email) = length(email) and email !~ '[\x01-\x20\x7f]'
  and email = lower(email collate "C"));

drop index waitlist_email;
create unique index waitlist_email on waitlist (email);
drop index console_users_email;
create unique index console_users_email on console_users (email);
