import type pg from "pg";

/**
 * How many servers copy this database while no commit waits for any of them. If one of them takes
 * the database's place after a failure, it may lack acknowledged entries. Programs that receive the
 * write-ahead log count as well; a running base backup does not, as far as this role can tell. None
 * if the server, another engine behind PostgreSQL's protocol, has no such view.
 */
export async function countAsynchronousStandbys(database: pg.ClientBase | pg.Pool): Promise<number> {
  const known = await database.query(
    "select where to_regclass('pg_catalog.pg_stat_replication') is not null",
  );
  if (known.rowCount === 0) return 0;
  const { rows } = await database.query<{ standbys: number }>(
    `select count(*)::int as standbys from pg_stat_replication
     where state is distinct from 'backup'
       and (current_setting('synchronous_standby_names', true) = '' or current_setting('synchronous_commit') in ('local', 'off'))`,
  );
  return rows[0]?.standbys ?? 0;
}
