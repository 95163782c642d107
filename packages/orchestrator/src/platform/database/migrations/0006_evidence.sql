-- What an evidence pack looks for far back in a log: whose keys counted when, and which policy was in force.
create index events_standing on events (org_id, kind, id)
  where kind in ('agent_attached', 'agent_revoked', 'source_configured');
