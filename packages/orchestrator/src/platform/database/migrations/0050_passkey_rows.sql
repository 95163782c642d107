-- Passkeys, recovery codes and challenges are taken away by whoever they are of, by commands at the machine, and when they are over.
select attestore_grant(name::regclass, 'delete', '{requests, console}')
from unnest(array['passkey_owners', 'passkeys', 'recovery_codes', 'passkey_challenges']) as name;
select attestore_grant('passkey_challenges', 'delete', '{jobs}');
