/**
 * Rows for tests and measurements of scale: they are copies, so that all that reads one finds in it
 * what it expects.
 */
import { appendLeaves } from "../log/cheap-leaves.ts";
import { newId } from "@attestore/contract";
import type { TestService } from "../service.ts";
import type { World } from "../tenancy/world.ts";

/** Of what has a time: back to some weeks ago. */
const EVERY_MINUTES = 10;

/**
 * Copies what the organisation has of each kind `count` times, and makes `count` other
 * organisations. Gives the large tables' names.
 */
export async function multiply({ pool }: TestService, world: World, count: number): Promise<Set<string>> {
  const suffix = "suffix";
  const bytes = "sha256(n::text::bytea)";
  const at = `now() - n * interval '${EVERY_MINUTES} minutes'`;
  const suffixes = Array.from({ length: count }, (_, n) =>
    newId("backup", Date.now() - (n + 1) * EVERY_MINUTES * 60_000).slice("bkp_".length),
  );
  const copies: [string, Record<string, string>][] = [
    ["orgs", { id: `'org_' || ${suffix}`, slug: "'org-' || n" }],
    ["agents", { id: `'agent_' || ${suffix}`, org_id: `'org_' || ${suffix}`, token_sha256: bytes }],
    ["users", { id: `'user_' || ${suffix}`, org_id: `'org_' || ${suffix}`, email: "n || '@example.com'" }],
    ["sessions", { token_sha256: bytes, user_id: `'user_' || ${suffix}`, auditor_link_id: "null" }],
    [
      "sources",
      { id: `'src_' || ${suffix}`, org_id: `'org_' || ${suffix}`, agent_id: `'agent_' || ${suffix}` },
    ],
    ["logs", { org_id: `'org_' || ${suffix}`, origin: "'log.test/' || n" }],
    // Those of leaves that are still to come, which no proof asks for.
    ["log_tiles", { tile_index: "n + 1000000" }],
    ["uploads", { id: `'upl_' || ${suffix}`, object_key: `'key-' || n` }],
    [
      "backups",
      {
        id: `'bkp_' || ${suffix}`,
        upload_id: `'upl_' || ${suffix}`,
        object_key: "'key-' || n",
        made_at: at,
        created_at: at,
      },
    ],
    [
      "receipts",
      {
        id: `'rcpt_' || ${suffix}`,
        envelope_sha256: bytes,
        backup_id: `'bkp_' || ${suffix}`,
        created_at: at,
      },
    ],
    ["events", { id: `'evt_' || ${suffix}`, created_at: at }],
    ["commands", { id: `'cmd_' || ${suffix}`, status: "'acked'", outcome: `'{"event_id":"evt_1"}'` }],
    ["api_logs", { id: `'log_' || ${suffix}`, created_at: at }],
    ["auth_keys", { id: `'key_' || ${suffix}`, org_id: `'org_' || ${suffix}`, public_id: "n::text" }],
    [
      "bootstraps",
      { id: `'boot_' || ${suffix}`, code_sha256: bytes, poll_token_sha256: bytes, agent_id: "null" },
    ],
    ["notifications", { id: `'ntf_' || ${suffix}`, key: "'key-' || n" }],
    [
      "notification_deliveries",
      {
        id: `'dlv_' || ${suffix}`,
        notification_id: `'ntf_' || ${suffix}`,
        status: "'delivered'",
        next_attempt_at: "null",
        finished_at: at,
      },
    ],
  ];
  await appendLeaves(pool, world.org.id, count);
  for (const [table, changes] of copies) await copyRows(pool, world, table, suffixes, changes);
  await pool.query("vacuum analyze");
  await addNewerCalls(pool, world);
  const counted = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and reltuples >= ${Math.floor(count / 2)} and relnamespace = current_schema()::regnamespace`,
  );
  return new Set(counted.rows.map(({ name }) => name));
}

/**
 * Copies one row of the world's for each suffix; `changes` are SQL, which may use the `suffix` and
 * its number `n`.
 */
export async function copyRows(
  pool: TestService["pool"],
  world: World,
  table: string,
  suffixes: readonly string[],
  changes: Record<string, string>,
): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped
      and attgenerated = '' and attidentity = ''`,
    [table],
  );
  const names = rows.map(({ name }) => name).filter((name) => name !== "removed_at");
  const values = names.map((name) => changes[name] ?? `one."${name}"`);
  await pool.query(
    `insert into "${table}" (${names.map((name) => `"${name}"`).join()})
      select ${values.join()} from (select * from "${table}" where ${ofTheWorld(table)} limit 1) as one,
        unnest($2::text[]) with ordinality as made (suffix, n)`,
    [world.org.id, suffixes],
  );
}

/** More than what one step of a plan may read. */
const NEWER = 2000;

/**
 * The newest calls are people's readings, though nearly all are of agents, and PostgreSQL expects
 * no others: who asks for those is not to wait until all of these were passed over.
 */
async function addNewerCalls(pool: TestService["pool"], world: World): Promise<void> {
  const suffixes = Array.from({ length: NEWER }, () => newId("apiLog").slice("log_".length));
  await copyRows(pool, world, "api_logs", suffixes, {
    id: "'log_' || suffix",
    method: "'GET'",
    status: "200",
    actor_kind: "'user'",
    actor_id: "'user_other'",
  });
}

function ofTheWorld(table: string): string {
  if (table === "orgs") return "id = $1";
  if (table === "sessions") return "operator_id is null and user_id is not null and $1 <> ''";
  // Nearly all calls are agents'.
  return table === "api_logs"
    ? "org_id = $1 and actor_kind = 'agent' and method = 'POST' and status < 300"
    : "org_id = $1";
}
