import { plural } from "@attestore/proof";
import type { PreparedQuery } from "../../platform/database/sql-session.ts";
import type { Check } from "./check.ts";

const UNLOGGED: PreparedQuery = {
  name: "fsck_unlogged",
  text: `select id, log_index from (
      select id, log_index, leaf_hash from receipts where org_id = $1
      union all select id, log_index, leaf_hash from events where org_id = $1) as entries
    where not exists (select from log_leaves where log_leaves.org_id = $1 and log_leaves.log_index = entries.log_index
      and log_leaves.leaf_hash = entries.leaf_hash)
    order by log_index limit 1000`,
};

const TWICE: PreparedQuery = {
  name: "fsck_twice",
  text: `select log_index, count(*) as entries from (
      select log_index from receipts where org_id = $1
      union all select log_index from events where org_id = $1) as entries
    group by log_index having count(*) > 1 order by log_index limit 1000`,
};

/**
 * Finds receipts and events without a leaf. The other direction, each leaf's entry, is checked leaf
 * by leaf.
 */
export async function checkUnlogged({ session, orgId, report }: Check): Promise<void> {
  for (const { id, log_index } of await session.run<{ id: string; log_index: number }>(UNLOGGED, [orgId]))
    report("entry_unlogged", `${id} claims to be leaf ${log_index}, but is not`);
  for (const { log_index, entries } of await session.run<{ log_index: number; entries: number }>(TWICE, [
    orgId,
  ]))
    report("entry_unlogged", `${plural(entries, "entry", "entries")} claim to be leaf ${log_index}`);
}
