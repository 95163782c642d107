-- Challenges, passkeys and recovery codes are taken away by calls, by the command for who lost theirs, and, past their time, by the clock. The roles
-- are made before any migration runs (database/roles.ts); what else they may do with these tables migration 0049 grants.
grant delete on passkey_challenges, passkey_owners, passkeys, recovery_codes to attestore_requests;
grant delete on passkey_owners, passkeys to attestore_console;
grant delete on passkey_challenges to attestore_jobs;
