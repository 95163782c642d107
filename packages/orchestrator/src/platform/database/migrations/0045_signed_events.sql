-- What an agent signed about its event: the DSSE envelope's JSON, what makes two submissions the same one, and its place in the agent's
-- chain of receipts and events. All null for the service's own events and for those that nobody signed.
alter table events
  add column envelope bytea,
  add column envelope_sha256 bytea check (length(envelope_sha256) = 32),
  add column payload_sha256 bytea check (length(payload_sha256) = 32),
  add column previous_receipt_sha256 bytea check (length(previous_receipt_sha256) = 32),
  add constraint events_signed check (
    (envelope is null) = (envelope_sha256 is null) and (envelope is null) = (payload_sha256 is null)
    and (envelope is not null or previous_receipt_sha256 is null));
create unique index events_envelope on events (envelope_sha256) where envelope_sha256 is not null;
