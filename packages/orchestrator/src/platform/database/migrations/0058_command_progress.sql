-- How far the agent was with a command when it last said so: {phase, bytes, total_bytes?, phase_ms, at}. For people who watch; nothing is decided by it.
alter table commands add column progress jsonb;
