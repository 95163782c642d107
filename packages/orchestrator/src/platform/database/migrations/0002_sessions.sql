-- Who is signed in. An impersonation is a session of the user that names the operator's own; it ends with that one.
create table sessions (
  token_sha256 bytea primary key,
  user_id text collate "C" not null references users (id),
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz,
  operator_id text collate "C" references users (id),
  operator_session bytea references sessions (token_sha256) on delete cascade,
  reason text,
  check ((operator_id is null) = (operator_session is null) and (operator_id is null) = (reason is null))
) with (fillfactor = 70);
create index sessions_user on sessions (user_id);
create index sessions_operator_session on sessions (operator_session) where operator_session is not null;
create index sessions_expiry on sessions (expires_at);

-- Users are never deleted: records name them. One that was removed frees the address.
alter table users add removed_at timestamptz;
drop index users_email;
create unique index users_email on users (lower(email)) where removed_at is null;
create index users_org on users (org_id, id) where org_id is not null;
