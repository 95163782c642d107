-- A row of users is a membership: the same person, who is known by their mailbox, may have one in each of several organisations, and an operator's
-- account besides. An invitation is a pending one, which grants nothing until the person accepts it.
alter table users add column status text not null default 'active' check (status in ('active', 'pending'));
drop index users_email;
create unique index users_email on users (lower(email), coalesce(org_id, '')) where removed_at is null;
