-- An account has as many keys as its limit says, and each can have one successor while it is rotated. The live numbers
-- 2n - 1 and 2n are a key and its successor, in either order.
alter table accounts add column key_limit smallint not null default 10
  constraint accounts_key_limit_check check (key_limit between 1 and 100);
alter table api_keys drop constraint api_keys_live_number_check;
alter table api_keys add constraint api_keys_live_number_check check (live_number between 1 and 200);
-- Two keys with different names were never a rotation. Accounts that move stay as their copies are.
update api_keys k set live_number = 3
  where live_number = 2
    and exists (select from api_keys o where o.account_id = k.account_id and o.live_number = 1 and o.name <> k.name)
    and exists (select from accounts a where a.id = k.account_id and a.move_state is null);
