import type { PsqlSession } from "../connection/psql-session.ts";

/** Identifies a database as far as the server allows, whichever way it is reached. */
export interface DatabaseIdentity {
  /** The running server, by the microsecond of its start, and the database in it. */
  readonly instance: string;
  /**
   * The cluster's identifier, which its replicas and physical copies share; null if the role may
   * not ask for it.
   */
  readonly cluster: string | null;
}

/**
 * Null if the server does not answer.
 * @throws SessionEnded
 */
export async function identityOf(session: PsqlSession): Promise<DatabaseIdentity | null> {
  const oid = "(select oid from pg_database where datname = current_database())";
  const instance = await session.run(
    `select extract(epoch from pg_postmaster_start_time()) || '/' || ${oid}`,
  );
  const cluster = await session.run(`select system_identifier || '/' || ${oid} from pg_control_system()`);
  if (!instance.ok) return null;
  return { instance: instance.output.trim(), cluster: cluster.ok ? cluster.output.trim() : null };
}

/**
 * A copy of a cluster counts as the cluster, because somebody who cloned production may have
 * promoted the clone.
 */
export function isSameDatabase(a: DatabaseIdentity, b: DatabaseIdentity): boolean {
  return a.instance === b.instance || (a.cluster !== null && a.cluster === b.cluster);
}

/** Identifies a source that does not answer only by its address. */
export function isSameAddress(
  a: Readonly<Record<string, string>>,
  b: Readonly<Record<string, string>>,
): boolean {
  const address = (environment: Readonly<Record<string, string>>): string =>
    JSON.stringify([
      (environment["PGHOST"] ?? environment["PGHOSTADDR"] ?? "").toLowerCase(),
      environment["PGPORT"] ?? "5432",
      environment["PGDATABASE"] ?? environment["PGUSER"] ?? "",
    ]);
  return address(a) === address(b);
}
