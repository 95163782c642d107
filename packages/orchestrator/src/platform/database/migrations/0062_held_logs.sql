-- Nothing is appended to the log before this time. A restored database cannot know what was signed after its backup: agents first
-- say which heads they hold. Infinite until the service that was restored serves.
alter table logs add column held_until timestamptz;
select attestore_grant('logs', 'select (held_until), update (held_until)', '{jobs}');
