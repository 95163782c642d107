-- Passkeys (WebAuthn) belong to a person, who is known by their mailbox, whatever the organisations that they belong to. `handle` is what their
-- authenticators know them by: it tells nothing about the address.
create table passkey_owners (
  email text primary key check (email = lower(email)),
  handle bytea not null unique,
  created_at timestamptz not null default now()
);
create table passkeys (
  id text primary key,
  email text not null references passkey_owners on delete cascade,
  credential_id bytea not null unique check (octet_length(credential_id) <= 1023),
  -- COSE_Key (RFC 9052 section 7)
  public_key bytea not null,
  -- of signatures, as the authenticator counts them; 0 where it does not
  counter int8 not null,
  transports text[] not null,
  synced boolean not null,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_email on passkeys (email);

create table recovery_codes (
  email text not null references passkey_owners on delete cascade,
  code_sha256 bytea not null,
  used_at timestamptz,
  primary key (email, code_sha256)
);

-- The newest of a session (register) or an attempt (sign_in). Taken away by the first who tries it.
create table passkey_challenges (
  purpose text not null check (purpose in ('register', 'sign_in')),
  bound_sha256 bytea not null,
  challenge text not null,
  expires_at timestamptz not null,
  primary key (purpose, bound_sha256)
);
create index passkey_challenges_expires on passkey_challenges (expires_at);

-- When and how whoever has a session signed in; a session given in another's place takes it over.
alter table sessions add column signed_in_at timestamptz not null default now();
alter table sessions add column signed_in_with text not null default 'email_code'
  check (signed_in_with in ('email_code', 'recovery_code', 'passkey', 'auditor_link'));
update sessions set signed_in_at = coalesce(
  (select origin.created_at from sessions as origin where origin.token_sha256 = sessions.continues), created_at);
update sessions set signed_in_with = 'auditor_link' where auditor_link_id is not null;
