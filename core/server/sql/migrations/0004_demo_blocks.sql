-- The block of addresses that a network of the public demo belongs to, as a keyed hash. Null: claimed by an older version.
alter table demo_claims add column block_hash sha256_hash;
