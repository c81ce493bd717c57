-- Signatures between cells: HMAC-SHA-256 with a secret of the two cells. They are made and checked here, because the
-- mover's login could leave out a check anywhere else. No role may call these functions.

create or replace function hmac_sha256(p_key bytea, p_message bytea) returns bytea
language plpgsql immutable strict as $$
declare
  -- A key of 32 bytes, filled up to the block of 64.
  v_inner bytea := p_key || decode(repeat('00', 64 - length(p_key)), 'hex');
  v_outer bytea := v_inner;
begin
  for i in 0..63 loop
    v_inner := set_byte(v_inner, i, get_byte(v_inner, i) # 54);
    v_outer := set_byte(v_outer, i, get_byte(v_outer, i) # 92);
  end loop;
  return sha256(v_outer || sha256(v_inner || p_message));
end
$$;

-- What a signature says. None of the fields contains a line break.
create or replace function move_statement(p_what text, p_from text, p_to text, p_account uuid, p_move uuid) returns text
language sql immutable as $$
  select concat_ws(E'\n', 'svc-asr move v1', p_what, p_from, p_to, p_account, p_move)
$$;

create or replace function chain_row(p_chain bytea, p_part text, p_content text) returns bytea
language sql immutable as $$ select sha256(p_chain || convert_to(p_part || ':' || p_content, 'UTF8')) $$;

create or replace function sign_move(p_cell text, p_statement text) returns text
language plpgsql stable as $$
declare
  v_key bytea := (select key from cell_links where cell = p_cell);
begin
  if v_key is null then
    raise exception 'this cell has no link with cell %', p_cell
      using errcode = 'object_not_in_prerequisite_state', hint = 'Run svc-admin cells link.';
  end if;
  return encode(hmac_sha256(v_key, convert_to(p_statement, 'UTF8')), 'hex');
end
$$;

create or replace function require_signature(p_cell text, p_signature text, p_statement text) returns void
language plpgsql stable as $$
begin
  -- Hashes are compared, so that the time reveals nothing about the right signature.
  if sha256(convert_to(coalesce(p_signature, ''), 'UTF8'))
    <> sha256(convert_to(sign_move(p_cell, p_statement), 'UTF8')) then
    raise exception 'cell % did not sign this', p_cell using errcode = 'insufficient_privilege';
  end if;
end
$$;

-- The target signs that it has the whole account and doesn't serve it yet.
create or replace function arrival_receipt(p_account uuid, p_move uuid) returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select sign_move(a.move_cell, move_statement('arrived', a.move_cell, c.id, a.id, a.move_id))
  from accounts a, cell c where a.id = p_account and a.move_id = p_move and a.move_state = 'arriving'
$$;

-- The source signs that it no longer serves the account.
create or replace function departure_receipt(p_account uuid, p_move uuid) returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select sign_move(a.move_cell, move_statement('departed', c.id, a.move_cell, a.id, a.move_id))
  from accounts a, cell c where a.id = p_account and a.move_id = p_move and a.move_state = 'moved'
$$;

-- For the owner of the schema: sets the secret that this cell shares with another one.
create or replace function link_cell(p_cell text, p_key bytea) returns void
language plpgsql as $$
begin
  insert into cell_links (cell, key) values (p_cell, p_key)
    on conflict (cell) do update set key = excluded.key, linked_at = clock_timestamp();
  perform write_audit(null, 'cell.linked', p_cell, null, null);
end
$$;

-- Equal in two cells that share a secret. Null without one.
create or replace function cell_link_fingerprint(p_cell text) returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select left(encode(hmac_sha256(key, 'fingerprint'), 'hex'), 16) from cell_links where cell = p_cell
$$;
