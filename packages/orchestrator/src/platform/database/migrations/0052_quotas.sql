-- What an operator set for one organisation in place of the service's own limits: null, the service's; -1, no limit. warned: of each quota, the share in
-- percent that the organisation was last told of, 0, 80 or 100.
create table org_quotas (
  org_id text collate "C" primary key references orgs (id),
  bytes bigint check (bytes >= -1),
  objects bigint check (objects >= -1),
  agents bigint check (agents >= -1),
  requests bigint check (requests >= -1),
  warned jsonb not null default '{}'
);
select attestore_isolate('org_quotas');

-- What an organisation stores: an upload counts from its first row on until it is forgotten, or until the object of its backup is gone. Kept by
-- triggers, in the transaction of what changes it, so that whoever changes it, a replica of before too, cannot leave it wrong.
create table org_usage (
  org_id text collate "C" primary key references orgs (id),
  bytes bigint not null default 0,
  objects bigint not null default 0
);
select attestore_isolate('org_usage');

create function count_usage(org text, more_bytes bigint, more_objects bigint) returns void language sql as $$
  insert into org_usage as known (org_id, bytes, objects) values (org, more_bytes, more_objects)
  on conflict (org_id) do update set bytes = known.bytes + excluded.bytes, objects = known.objects + excluded.objects
$$;

create function count_upload() returns trigger language plpgsql as $count$
begin
  if tg_op = 'INSERT' then
    perform count_usage(new.org_id, new.size_bytes, 1);
  else
    perform count_usage(old.org_id, -old.size_bytes, -1);
  end if;
  return null;
end $count$;
create trigger count_upload after insert or delete on uploads for each row execute function count_upload();

create function count_removed_object() returns trigger language plpgsql as $count$
begin
  if old.object_removed_at is null and new.object_removed_at is not null then
    perform count_usage(old.org_id, -old.size_bytes, -1);
  elsif old.object_removed_at is not null and new.object_removed_at is null then
    perform count_usage(old.org_id, old.size_bytes, 1);
  end if;
  return null;
end $count$;
create trigger count_removed_object after update of object_removed_at on backups for each row execute function count_removed_object();

-- Both tables are locked by the triggers that were made just now.
insert into org_usage (org_id, bytes, objects)
  select uploads.org_id, sum(uploads.size_bytes), count(*) from uploads left join backups on backups.upload_id = uploads.id
  where backups.object_removed_at is null group by uploads.org_id;
