-- One-time codes that people type, the newest of each address. A row is written for unknown addresses too, so that both cost the same.
create table one_time_codes (
  purpose text not null check (purpose in ('signup', 'login')),
  -- lower case
  email text not null,
  -- SHA-256 over purpose, address and code
  code_sha256 bytea not null,
  -- of a signup: the organisation to be made
  org_name text,
  wrong_tries integer not null default 0 check (wrong_tries between 0 and 5),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz,
  primary key (purpose, email),
  check ((org_name is not null) = (purpose = 'signup'))
) with (fillfactor = 70);
create index one_time_codes_expiry on one_time_codes (expires_at);

-- Mail that waits to be sent: written in the transaction of what it tells of, removed when the server has taken it.
create table mail_outbox (
  id bigint generated always as identity primary key,
  -- recipient, subject and text: they hold codes
  sealed bytea not null,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  -- after this it is of no use any more
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index mail_outbox_due on mail_outbox (next_attempt_at);

-- The session that a person signed in with, where this one was given in its place: signing out ends both.
alter table sessions add continues bytea references sessions (token_sha256) on delete cascade;
create index sessions_continues on sessions (continues) where continues is not null;
