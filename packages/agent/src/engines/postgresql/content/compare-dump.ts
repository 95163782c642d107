import { createHash } from "node:crypto";
import type { CheckOutcome } from "@attestore/proof";
import { contentOfDump } from "../../content/content-of-dump.ts";
import type { NotCompared } from "../../content/not-compared.ts";
import { notOfExtension, OWN_SCHEMAS } from "../schema.ts";
import { compareContent, type RestoredTables } from "./compare-content.ts";
import { tableTag } from "./describe-content.ts";
import type { ArchiveContent } from "./read-archive.ts";
import { LARGE_OBJECTS, MADE_OF, whyNotCompared } from "./tables.ts";

/** The digest of the large objects of a dump that has none. */
const OF_NOTHING = createHash("sha256").digest("hex");

/**
 * Nobody knows how the session of another program's dump printed values: its time zone, and how it
 * wrote bytes and names. An extension of another version may print its types in another way.
 */
const UNCERTAIN_TYPES = `
  select 'pg_catalog.timestamptz'::regtype::oid, 'time_zone'
  union all select 'pg_catalog.bytea'::regtype::oid, 'bytea_output'
  union all select oid, 'quoting' from pg_type where typnamespace = 'pg_catalog'::regnamespace and typname ~ '^reg'
  union all select oid, 'type_of_extension' from pg_type where typtype = 'b' and typelem = 0 and typnamespace <> 'pg_catalog'::regnamespace`;

/** Rows are JSON arrays: a table, and why its rows may be printed in another way. */
export const UNCERTAIN_TABLES = `
  with recursive uncertain(type, why) as (
    (${UNCERTAIN_TYPES})
    union
    select made.type, uncertain.why from uncertain join (${MADE_OF}
    ) made on made.of_type = uncertain.type
  )
  select json_build_array(format('%I.%I', n.nspname, c.relname), min(uncertain.why))
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join uncertain on uncertain.type = a.atttypid
  where c.relkind = 'r' and ${OWN_SCHEMAS} and ${notOfExtension("pg_class", "c.oid")}
  group by n.nspname, c.relname`;

/**
 * Compares the tables of a restored copy with the dump that another program made. Two digests that
 * differ prove something only where both sides print rows alike. Null if nothing could be compared.
 * @throws RunError
 */
export async function compareDump(
  restored: RestoredTables,
  dump: ArchiveContent,
  {
    whyUncertain,
    ...comparison
  }: {
    readonly whyUncertain: (table: string) => string | null;
    readonly key: Buffer;
    readonly budget_ms: number;
    readonly signal: AbortSignal;
  },
): Promise<CheckOutcome | null> {
  const settings = {
    bytea_output: "hex",
    quote_all_identifiers: "off",
    lc_monetary: "unknown",
    client_encoding: dump.encoding,
  };
  const held = new Map(dump.tables.map((each) => [JSON.stringify([each.schema, each.table]), each]));
  const tags = new Map<string, string>();
  const notCompared: NotCompared[] = [];
  for (const table of restored.tables) {
    const { name, schema } = table;
    const content = name === LARGE_OBJECTS ? undefined : held.get(JSON.stringify([schema, table.table]));
    const why = whyNotCompared(table, settings) ?? (content === undefined ? "not_in_dump" : null);
    if (why === null && content !== undefined) tags.set(name, tableTag(comparison.key, content));
    else if (name !== LARGE_OBJECTS) notCompared.push({ name, why: why ?? "not_in_dump" });
  }
  const { largeObjects } = dump;
  const objects = restored.tables.find(({ name }) => name === LARGE_OBJECTS);
  if (objects !== undefined && largeObjects !== null && largeObjects !== OF_NOTHING)
    tags.set(LARGE_OBJECTS, tableTag(comparison.key, { ...objects, sha256: largeObjects }));
  const expected = contentOfDump(tags, notCompared);
  if (expected === null) return null;
  return compareContent({ ...restored, whyUncertain }, { ...expected, settings }, comparison);
}
