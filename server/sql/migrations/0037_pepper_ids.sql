-- Which pepper a key was hashed with, so that peppers can be replaced one key at a time.
alter table api_keys add column pepper_id smallint not null default 0
  check (pepper_id between 0 and 255);
