/** PostgreSQL's programs of the release that both sides use. */
export const PROGRAMS = "/usr/lib/postgresql/15/bin";

const AS_POSTGRES = "setpriv --reuid postgres --regid postgres --clear-groups";
const PSQL = (scratch: string): string =>
  `${PROGRAMS}/psql -XqAt -v ON_ERROR_STOP=1 -h ${scratch} -U postgres`;

/** Each table's name and rows, one a line. */
export const ROW_COUNTS = `select format('select %L, count(*) from %I.%I', c.relname, n.nspname, c.relname)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind = 'r' and n.nspname = 'public' order by 1 \\gexec`;

/**
 * A script's beginning and end: a scratch server that needs no durability, as a child of the
 * script so that its processor time is counted, and everything removed.
 */
function inScratchServer(scratch: string, work: string): string {
  return `
    rm -rf ${scratch}; install -d -o postgres ${scratch}
    ${AS_POSTGRES} ${PROGRAMS}/initdb -D ${scratch}/d -A trust -U postgres --no-locale -E UTF8 --no-sync
    ${AS_POSTGRES} ${PROGRAMS}/postgres -D ${scratch}/d -k ${scratch} -c listen_addresses= -c fsync=off \\
      -c full_page_writes=off -c synchronous_commit=off -c wal_level=minimal -c max_wal_senders=0 \\
      -c max_wal_size=4GB -c autovacuum=off -c maintenance_work_mem=256MB 2>/dev/null &
    server=$!
    trap 'kill -QUIT $server; wait $server || true; rm -rf ${scratch}' EXIT
    until ${PROGRAMS}/pg_isready -q -h ${scratch}; do sleep 0.1; done
    ${work}`;
}

/** Restores what `source` prints while it comes, and asks the check. */
export function streamedByHand(scratch: string, source: string, check: string): string {
  return inScratchServer(
    scratch,
    `${source} | ${PROGRAMS}/pg_restore --exit-on-error --no-owner -h ${scratch} -U postgres -d postgres
    ${PSQL(scratch)} -c '${check}'`,
  );
}

/**
 * The script that a careful person writes: it keeps the dump in a file, so that several jobs can
 * restore it, compares each table's number of rows with the source's, and runs the check.
 */
export function carefullyByHand(
  scratch: string,
  source: string,
  check: string,
  { jobs, counts }: { readonly jobs: number; readonly counts: string },
): string {
  return inScratchServer(
    scratch,
    `${source} > ${scratch}/dump
    ${PROGRAMS}/pg_restore --exit-on-error --no-owner --jobs=${jobs} -h ${scratch} -U postgres -d postgres ${scratch}/dump
    ${PSQL(scratch)} -F ' ' <<'SQL' | cmp - ${counts}
    ${ROW_COUNTS}
SQL
    ${PSQL(scratch)} -c '${check}'`,
  );
}
