-- Keys that agents signed with before the one in agents.public_key. They stay for good: what they signed is in the log.
create table agent_retired_keys (
  org_id text collate "C" not null references orgs (id),
  agent_id text collate "C" not null references agents (id),
  key_fingerprint text not null,
  public_key bytea not null,
  valid_from timestamptz not null,
  -- by the agent's clock: runs that ended later are signed with the next key
  replaced_at timestamptz not null,
  -- by the service's
  retired_at timestamptz not null,
  -- {by_old, by_new}: how the next key took its place
  rotation jsonb not null,
  primary key (agent_id, key_fingerprint)
);

-- Where row-level security (0020) came first.
do $$
begin
  if to_regproc('attestore_isolate') is not null then
    perform attestore_isolate('agent_retired_keys');
  end if;
end $$;

-- For evidence packs, as events_standing (0006).
create index events_key_rotations on events (org_id, id) where kind = 'agent_key_rotated';
