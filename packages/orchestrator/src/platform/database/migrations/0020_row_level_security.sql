-- Behind the `where org_id = …` of each query: a transaction that is about one organisation (platform/http/org-scope.ts) runs as the role
-- attestore_tenant, which sees that organisation's rows and no others, and without an organisation none at all. Whoever owns the tables,
-- which is the service's own role, is not held by the policies: the log's sequencer, jobs, and looking up whose a credential is are about
-- all organisations. For that reason none of the tables says FORCE. A replica of before never becomes the role, and goes on as it did.

-- All tables at once, or none: nobody who waits for one of them, while this waits for another, does so for as long as it takes to be found to be
-- in a deadlock and undone. What cannot be had in that time is tried again (migrate.ts).
set local statement_timeout = '800ms';
do $$
begin
  execute (select 'lock table ' || string_agg(oid::regclass::text, ', ' order by relname) || ' in access exclusive mode'
    from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> 'schema_migrations');
end $$;
set local statement_timeout to default;

-- A role belongs to the server and not to the database: another database's service may have made it.
do $$
declare
  remedy text := format('create role attestore_tenant nologin; grant attestore_tenant to %I;', current_user);
begin
  if not exists (select from pg_roles where rolname = 'attestore_tenant') then
    begin
      create role attestore_tenant nologin;
    exception
      when duplicate_object or unique_violation then null; -- another one was faster
      when insufficient_privilege then
        raise exception using errcode = 'AT001', message =
          format('The database''s role %I may not create roles. Run this as a superuser of the server, then try again: %s', current_user, remedy);
    end;
  end if;
  begin
    set local role attestore_tenant;
    set local role none;
  exception when insufficient_privilege then
    begin
      execute format('grant attestore_tenant to %I', current_user);
      set local role attestore_tenant;
      set local role none;
    exception when insufficient_privilege then
      raise exception using errcode = 'AT001', message =
        format('The database''s role %I may not become attestore_tenant. Run this as a superuser of the server, then try again: %s',
          current_user, format('grant attestore_tenant to %I;', current_user));
    end;
  end;
  execute format('grant usage on schema %I to attestore_tenant', current_schema());
end $$;

-- For this migration and each later one that makes a table which belongs to organisations: without it nobody who is scoped can use the table.
create function attestore_isolate(target regclass, visible text default $$org_id = current_setting('attestore.org_id', true)$$)
returns void language plpgsql as $isolate$
begin
  execute format('alter table %s enable row level security', target);
  execute format('create policy tenant on %s to attestore_tenant using (%s) with check (%s)', target, visible, visible);
  execute format('grant select, insert, update, delete on %s to attestore_tenant', target);
end $isolate$;

select attestore_isolate(oid::regclass) from pg_class
where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> 'bootstraps'
  and exists (select from pg_attribute where attrelid = pg_class.oid and attname = 'org_id' and not attisdropped)
order by relname;

select attestore_isolate('orgs', $$id = current_setting('attestore.org_id', true)$$);
-- An attach that waits is nobody's yet: whoever types its code decides where it belongs.
select attestore_isolate('bootstraps', $$org_id is null or org_id = current_setting('attestore.org_id', true)$$);
-- The policies of the tables in these conditions hold here too. Operators' sessions belong to no organisation.
select attestore_isolate('sessions', $$exists (select from users where users.id = sessions.user_id)
  or exists (select from auditor_links where auditor_links.id = sessions.auditor_link_id)$$);
select attestore_isolate('agent_witnesses', $$exists (select from agents where agents.id = agent_witnesses.agent_id)$$);

-- A mail is put there, and read by nobody who is scoped.
grant insert on mail_outbox to attestore_tenant;
