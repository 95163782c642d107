-- The envelopes of old receipts may be in files beside the objects (log/archive): of 256 entries of a log in each file. All else of a receipt stays.
alter table receipts alter column envelope drop not null;
alter table receipts
  -- the first bytes of the file's SHA-256, which are part of its name
  add column archived_in bytea,
  -- bytes of the file
  add column archived_start integer,
  add column archived_length integer;
-- Every row of before fulfils it: to look at all of them would take long, and show nothing.
alter table receipts add constraint receipts_envelope_is_somewhere check (
  case when envelope is null then length(archived_in) = 8 and archived_start >= 0 and archived_length > 0
    else archived_in is null and archived_start is null and archived_length is null end) not valid;

create table archive_files (
  org_id text collate "C" not null,
  -- of the entries from file_index * 256 on
  file_index bigint not null,
  sha256 bytea not null check (length(sha256) = 32),
  size_bytes bigint not null,
  archived_at timestamptz not null default now(),
  primary key (org_id, file_index)
);
select attestore_isolate('archive_files');
revoke insert, update on archive_files from attestore_tenant, attestore_requests, attestore_jobs, attestore_console;
revoke select on archive_files from attestore_requests, attestore_jobs;
select attestore_grant('archive_files', 'select (org_id, file_index)', '{jobs}');

-- No role of the service may change a receipt. What may be done to an old one is this, and to take it back: nobody but the caller knows whether the
-- file is there.
create function attestore_archive(org text, file bigint, digest bytea, size bigint, ids text[], starts integer[], lengths integer[]) returns void
language plpgsql security definer as $archive$
declare moved bigint;
begin
  if file <> coalesce((select max(file_index) + 1 from archive_files where org_id = org), 0) then
    raise exception 'file % does not follow on the newest one', file using errcode = 'AT002';
  end if;
  insert into archive_files (org_id, file_index, sha256, size_bytes) values (org, file, digest, size);
  update receipts set envelope = null, archived_in = substring(digest for 8), archived_start = part.start, archived_length = part.length
  from unnest(ids, starts, lengths) as part (id, start, length)
  where receipts.id = part.id and receipts.org_id = org and receipts.log_index / 256 = file and octet_length(receipts.envelope) = part.length
    and receipts.created_at < now() - interval '30 days' and receipts.happened_at < receipts.created_at;
  get diagnostics moved = row_count;
  if moved <> cardinality(ids) then
    raise exception 'of % receipts to archive, % are as they were read', cardinality(ids), moved using errcode = 'AT002';
  end if;
end $archive$;

create function attestore_unarchive(org text, file bigint, ids text[], envelopes bytea[]) returns void
language plpgsql security definer as $unarchive$
declare moved bigint;
begin
  if file is distinct from (select max(file_index) from archive_files where org_id = org) then
    raise exception 'file % is not the newest one', file using errcode = 'AT002';
  end if;
  update receipts set envelope = part.envelope, archived_in = null, archived_start = null, archived_length = null
  from unnest(ids, envelopes) as part (id, envelope)
  where receipts.id = part.id and receipts.org_id = org and receipts.log_index / 256 = file and receipts.envelope is null
    and octet_length(part.envelope) = archived_length;
  get diagnostics moved = row_count;
  if moved <> cardinality(ids) or exists (select from receipts where receipts.org_id = org and receipts.id = any(ids) and receipts.envelope is null) then
    raise exception 'of % receipts to take back, % are in the archive', cardinality(ids), moved using errcode = 'AT002';
  end if;
  delete from archive_files where org_id = org and file_index = file;
end $unarchive$;

-- They run as the tables' owner: a caller's temporary table of the same name must not come first, with triggers of the caller's.
do $$
begin
  execute format('alter function attestore_archive(text, bigint, bytea, bigint, text[], integer[], integer[]) set search_path = %I, pg_temp', current_schema());
  execute format('alter function attestore_unarchive(text, bigint, text[], bytea[]) set search_path = %I, pg_temp', current_schema());
end $$;
revoke all on function attestore_archive(text, bigint, bytea, bigint, text[], integer[], integer[]) from public;
revoke all on function attestore_unarchive(text, bigint, text[], bytea[]) from public;
grant execute on function attestore_archive(text, bigint, bytea, bigint, text[], integer[], integer[]) to attestore_jobs, attestore_console;
grant execute on function attestore_unarchive(text, bigint, text[], bytea[]) to attestore_console;
