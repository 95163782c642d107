-- Whether an upload was registered, so that those which were not are found without reading all uploads that ever were.
-- step: transaction
alter table uploads add column if not exists registered_at timestamptz;
-- By a trigger, so that a replica of the version before cannot leave it out.
create or replace function note_registered() returns trigger language plpgsql as $note$
begin
  update uploads set registered_at = new.created_at where id = new.upload_id;
  return null;
end $note$;
create or replace trigger note_registered after insert on backups for each row execute function note_registered();
select attestore_grant('uploads', 'select (registered_at)', '{jobs}');
-- step: batched
with batch as (select id from uploads where id > $1 order by id limit 2000),
  done as (update uploads set registered_at = backups.created_at from batch join backups on backups.upload_id = batch.id
    where uploads.id = batch.id and registered_at is null)
select max(id) as last from batch;
-- step: concurrent
create index concurrently uploads_unregistered on uploads (id) where registered_at is null;
