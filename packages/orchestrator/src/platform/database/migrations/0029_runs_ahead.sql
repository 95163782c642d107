-- Receipts of agents whose clock was ahead of the service's: they say a later moment than the one that they were recorded at.
create index receipts_ahead on receipts (agent_id) where happened_at = created_at;
