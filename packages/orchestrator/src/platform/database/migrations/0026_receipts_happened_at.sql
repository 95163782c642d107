-- When what a receipt tells of ended, as the agent says, and never later than it was recorded. A scheduled run is decided by what did not finish before
-- it was due: a receipt that waited on its host tells of an earlier run.
-- An envelope's base64 may be of either alphabet, and what is in it may hold NUL, which PostgreSQL's JSON does not read.
create function attestore_happened_at(envelope bytea, recorded_at timestamptz) returns timestamptz language sql stable
  begin atomic
    select least(recorded_at,
      (replace(convert_from(decode(rpad(payload, (length(payload) + 3) / 4 * 4, '='), 'base64'), 'UTF8'), '\u0000', '\u0001')::json
        #>> '{predicate,finished_at}')::timestamptz)
    from (select translate(convert_from(envelope, 'UTF8')::json ->> 'payload', '-_', '+/') as payload) as signed;
  end;

alter table receipts add happened_at timestamptz;
update receipts set happened_at = attestore_happened_at(envelope, created_at);
alter table receipts alter happened_at set not null;

-- A replica of before this migration, which may run for a while beside newer ones, does not say.
create function attestore_tell_happened_at() returns trigger language plpgsql as $tell$
begin
  new.happened_at := attestore_happened_at(new.envelope, new.created_at);
  return new;
end $tell$;
create trigger receipts_happened_at before insert on receipts
  for each row when (new.happened_at is null) execute function attestore_tell_happened_at();

-- Runs that such a receipt or backup decided were not done. CLOCK_BEHIND_MS of packages/proof, as it is today.
update scheduled_runs as run set status = 'missed'
from receipts as late
where run.kind = 'restore_test' and run.status = 'done' and late.source_id = run.source_id and late.kind = run.kind
  and late.created_at - late.happened_at > interval '5 minutes'
  and late.created_at between scheduled_at and deadline_at and late.happened_at < scheduled_at - interval '5 minutes'
  and not exists (select from receipts where receipts.source_id = run.source_id and receipts.kind = run.kind
    and receipts.created_at between scheduled_at and deadline_at and receipts.happened_at >= scheduled_at - interval '5 minutes');
update scheduled_runs as run set status = 'missed'
from backups as late
where run.kind = 'backup' and run.status = 'done' and late.source_id = run.source_id
  and late.created_at - late.made_at > interval '5 minutes'
  and late.created_at between scheduled_at and deadline_at and late.made_at < scheduled_at - interval '5 minutes'
  and not exists (select from backups where backups.source_id = run.source_id
    and backups.created_at between scheduled_at and deadline_at and backups.made_at >= scheduled_at - interval '5 minutes');
