-- A code belongs to the attempt that asked for it: a stranger who asks for codes of the same address, or tries wrong ones, has attempts of
-- their own. Codes that were mailed before this migration (they live 15 minutes) belong to no attempt, and have to be asked for again.
alter table one_time_codes add column attempt_sha256 bytea not null default '';
-- asked for without an attempt of the client's own: the network that it came from is the attempt
alter table one_time_codes add column by_network boolean not null default false;
alter table one_time_codes drop constraint one_time_codes_pkey;
alter table one_time_codes add primary key (purpose, email, attempt_sha256);
alter table one_time_codes alter column attempt_sha256 drop default;
alter table one_time_codes alter column by_network drop default;
