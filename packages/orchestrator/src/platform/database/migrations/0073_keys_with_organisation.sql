-- Keys and foreign keys of the large tables name the organisation, so that an engine that spreads rows by organisation, each on one of several
-- machines, can check them there (docs/scale.md). The id stays first: the release before looks rows up by it alone. Ids are the service's own and
-- random, so none occurs in two organisations. An envelope names its agent, which belongs to one organisation.
-- step: concurrent
create unique index concurrently receipts_key on receipts (id, org_id);
-- step: concurrent
create unique index concurrently receipts_envelopes on receipts (envelope_sha256, org_id);
-- step: concurrent
create unique index concurrently events_key on events (id, org_id);
-- step: concurrent
create unique index concurrently events_envelopes on events (envelope_sha256, org_id) where envelope_sha256 is not null;
-- step: concurrent
create unique index concurrently commands_key on commands (id, org_id);
-- step: concurrent
create unique index concurrently uploads_key on uploads (id, org_id);
-- step: concurrent
create unique index concurrently uploads_objects on uploads (object_key, org_id);
-- step: concurrent
create unique index concurrently backups_key on backups (id, org_id);
-- step: concurrent
create unique index concurrently backups_objects on backups (object_key, org_id);
-- Beside the primary key, which the release before names where it inserts.
-- step: concurrent
create unique index concurrently scheduled_runs_key on scheduled_runs (source_id, kind, scheduled_at, org_id);
-- The foreign keys of before are dropped once the new ones hold for all rows.
-- step: transaction
alter table backups drop constraint if exists backups_upload,
  add constraint backups_upload foreign key (upload_id, org_id) references uploads (id, org_id) not valid;
-- step: transaction
alter table backups drop constraint if exists backups_command,
  add constraint backups_command foreign key (command_id, org_id) references commands (id, org_id) not valid;
-- step: transaction
alter table scheduled_runs drop constraint if exists scheduled_runs_command,
  add constraint scheduled_runs_command foreign key (command_id, org_id) references commands (id, org_id) not valid;
-- step: transaction
alter table backups validate constraint backups_upload;
-- step: transaction
alter table backups validate constraint backups_command;
-- step: transaction
alter table scheduled_runs validate constraint scheduled_runs_command;
-- step: transaction
alter table backups drop constraint if exists backups_upload_id_fkey;
-- step: transaction
alter table backups drop constraint if exists backups_command_id_fkey;
-- step: transaction
alter table scheduled_runs drop constraint if exists scheduled_runs_command_id_fkey;
-- The indexes become the primary keys: nothing is read for that.
-- step: transaction
do $$
begin
  if to_regclass('receipts_pkey') is not null then
    alter table receipts drop constraint receipts_pkey, add primary key using index receipts_key;
  end if;
end $$;
-- step: transaction
do $$
begin
  if to_regclass('events_pkey') is not null then
    alter table events drop constraint events_pkey, add primary key using index events_key;
  end if;
end $$;
-- step: transaction
do $$
begin
  if to_regclass('commands_pkey') is not null then
    alter table commands drop constraint commands_pkey, add primary key using index commands_key;
  end if;
end $$;
-- step: transaction
do $$
begin
  if to_regclass('uploads_pkey') is not null then
    alter table uploads drop constraint uploads_pkey, add primary key using index uploads_key;
  end if;
  alter table uploads drop constraint if exists uploads_object_key_key;
end $$;
-- step: transaction
do $$
begin
  if to_regclass('backups_pkey') is not null then
    alter table backups drop constraint backups_pkey, add primary key using index backups_key;
  end if;
  alter table backups drop constraint if exists backups_object_key_key;
end $$;
-- step: concurrent
drop index concurrently if exists receipts_envelope;
-- step: concurrent
drop index concurrently if exists events_envelope;
