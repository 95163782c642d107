import type { PsqlSession } from "../connection/psql-session.ts";
import { preparation } from "./preparation.ts";

/** The first object id that is not the server's own (FirstNormalObjectId). */
const OWN = 16384;

/**
 * Everything that a restore can leave in a database, except the schema `public`, which every new
 * database has.
 */
const CATALOGUES: readonly (readonly [what: string, table: string])[] = [
  ["relations", "pg_class"],
  ["functions", "pg_proc"],
  ["types", "pg_type"],
  ["extensions", "pg_extension"],
  ["foreign-data wrappers", "pg_foreign_data_wrapper"],
  ["foreign servers", "pg_foreign_server"],
  ["event triggers", "pg_event_trigger"],
  ["publications", "pg_publication"],
  ["casts", "pg_cast"],
  ["languages", "pg_language"],
  ["operators", "pg_operator"],
  ["collations", "pg_collation"],
  ["conversions", "pg_conversion"],
  ["text search configurations", "pg_ts_config"],
  ["access methods", "pg_am"],
];

/**
 * Describes the content of the database, such as `12 relations, 3 functions`; empty if there is
 * none.
 */
export async function contentsOf(session: PsqlSession): Promise<string> {
  const counts = [
    `select 'schemas', count(*) from pg_namespace where oid >= ${OWN} and nspname <> 'public' and nspname !~ '^pg_(toast_)?temp_'`,
    // The creator of a large object may choose its id.
    "select 'large objects', count(*) from pg_largeobject_metadata",
    ...CATALOGUES.map(([what, table]) => `select '${what}', count(*) from ${table} where oid >= ${OWN}`),
  ];
  const listing = `select string_agg(n || ' ' || what, ', ') from (${counts.join(" union all ")}) c (what, n) where n > 0`;
  return preparation(await session.run(listing)).trim();
}

/**
 * Drops all of that, with `cascade` for what depends on it. Call `contentsOf` afterwards to see
 * whether anything is left.
 */
export async function emptyDatabase(session: PsqlSession): Promise<void> {
  const dropEach = (kind: string, from: string): string =>
    `select coalesce(string_agg(format('drop ${kind} if exists %I cascade;', name), ' '), '') from (select ${from}) d (name)`;
  const drops = [
    dropEach("event trigger", `evtname from pg_event_trigger where oid >= ${OWN}`),
    dropEach("publication", `pubname from pg_publication where oid >= ${OWN}`),
    dropEach("extension", `extname from pg_extension where oid >= ${OWN}`),
    dropEach(
      "schema",
      "nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'",
    ),
    dropEach("server", `srvname from pg_foreign_server where oid >= ${OWN}`),
    dropEach("foreign data wrapper", `fdwname from pg_foreign_data_wrapper where oid >= ${OWN}`),
    dropEach("language", `lanname from pg_language where oid >= ${OWN}`),
    dropEach("access method", `amname from pg_am where oid >= ${OWN}`),
    `select coalesce(string_agg(format('drop cast if exists (%s as %s) cascade;', castsource::regtype, casttarget::regtype), ' '), '') from pg_cast where oid >= ${OWN}`,
  ];
  // Don't wait for somebody else's transaction without end.
  preparation(await session.run("set lock_timeout = '60s'; set client_min_messages = error"));
  for (const drop of drops) preparation(await session.run(`do $do$ begin execute (${drop}); end $do$`));
  // In parts, because each object takes a lock.
  for (;;) {
    const unlinked = await session.run(
      "select count(lo_unlink(oid)) from (select oid from pg_largeobject_metadata limit 1000) o",
    );
    if (preparation(unlinked).trim() === "0") break;
  }
  preparation(await session.run("create schema if not exists public"));
}
