-- The service works as a role that owns nothing and is held by row-level security everywhere: as attestore_tenant where one organisation is meant
-- (0020), and otherwise as one of a few named ways (database/roles.ts, which makes the roles before this runs). A way is a role with the
-- tables that it needs and no others; without one, the service's own role may read nothing at all.
-- Whoever owns the tables is let through by a policy of its own, attestore_owner: for migrations, dumps, and a replica of the version before.

set local statement_timeout = '800ms';
do $$
begin
  execute (select 'lock table ' || string_agg(oid::regclass::text, ', ' order by relname) || ' in access exclusive mode'
    from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> 'schema_migrations');
end $$;
set local statement_timeout to default;

do $$
begin
  execute format('grant usage on schema %I to attestore_service, attestore_requests, attestore_log, attestore_jobs, attestore_console', current_schema());
end $$;

-- What nobody changes once it is written is only ever added to; whoever removes rows by the clock is granted that by name.
create function attestore_grant(target regclass, privileges text, ways text[]) returns void language plpgsql as $grant$
begin
  execute format('grant %s on %s to %s', privileges, target,
    (select string_agg(quote_ident('attestore_' || way), ', ') from unnest(ways) as way));
end $grant$;

-- For each later migration that makes a table: with rows of organisations,
--   select attestore_isolate('its_name');
-- which lets requests, jobs and commands read and write it, and a call of an organisation that organisation's rows; without any,
--   select attestore_share('its_name');
-- Take away what is not needed after that: test/service-role.test.ts has the list of what each way may.
create function attestore_share(target regclass) returns void language sql as $$
  select attestore_grant(target, 'select, insert, update', '{requests, jobs, console}')
$$;

create function attestore_hold(target regclass) returns void language plpgsql as $hold$
begin
  execute format('alter table %s force row level security', target);
  execute format('create policy way on %s to attestore_requests, attestore_log, attestore_jobs using (true) with check (true)', target);
  -- Not to those who inherit it: whoever gives commands at the machine has become it.
  execute format('create policy console on %s to attestore_console using ((select current_user) = %L) with check ((select current_user) = %L)',
    target, 'attestore_console', 'attestore_console');
  execute format('create policy owner on %s to attestore_owner using (true) with check (true)', target);
  perform attestore_share(target);
end $hold$;

drop function attestore_isolate(regclass, text);
create function attestore_isolate(target regclass, visible text default $$org_id = current_setting('attestore.org_id', true)$$)
returns void language plpgsql as $isolate$
begin
  execute format('alter table %s enable row level security', target);
  execute format('create policy tenant on %s to attestore_tenant using (%s) with check (%s)', target, visible, visible);
  execute format('grant select, insert, update on %s to attestore_tenant', target);
  perform attestore_hold(target);
end $isolate$;

select attestore_hold(oid::regclass) from pg_class
where relkind = 'r' and relnamespace = current_schema()::regnamespace and relrowsecurity order by relname;
select attestore_share(oid::regclass) from pg_class
where relkind = 'r' and relnamespace = current_schema()::regnamespace and not relrowsecurity and relname <> 'schema_migrations' order by relname;
-- By name: who may not migrate has to see that there is nothing to migrate.
grant select on schema_migrations to attestore_service, attestore_console;

do $$
declare
  isolated text := (select string_agg(oid::regclass::text, ', ') from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace and relrowsecurity);
begin
  execute format('revoke delete, truncate, references, trigger on %s from attestore_tenant', isolated);
end $$;

-- Append-only: nobody changes these.
revoke update on log_leaves, log_tiles, log_heads, log_emissions, receipts, events, agent_retired_keys, api_logs
  from attestore_tenant, attestore_requests, attestore_jobs, attestore_console;

select attestore_grant(name::regclass, 'delete', '{jobs}') from unnest(array['api_logs', 'bootstraps', 'idempotency_keys', 'mail_outbox',
  'one_time_codes', 'rate_limits', 'sessions', 'uploads', 'notifications', 'notification_attempts', 'notification_deliveries',
  'notification_incidents', 'notification_cursors']) as name;
select attestore_grant('uploads', 'delete', '{console}');

-- The sequencer records for many organisations at once.
select attestore_grant(name::regclass, 'select', '{log}') from unnest(array['agents', 'agent_retired_keys', 'agent_witnesses', 'backups', 'commands',
  'events', 'idempotency_keys', 'log_emissions', 'log_heads', 'log_leaves', 'log_tiles', 'logs', 'receipts', 'source_days', 'sources']) as name;
select attestore_grant(name::regclass, 'insert', '{log}') from unnest(array['api_logs', 'events', 'idempotency_keys', 'log_emissions',
  'log_heads', 'log_leaves', 'log_tiles', 'receipts', 'source_days']) as name;
select attestore_grant(name::regclass, 'update', '{log}') from unnest(array['backups', 'commands', 'idempotency_keys', 'logs', 'source_days',
  'sources']) as name;
