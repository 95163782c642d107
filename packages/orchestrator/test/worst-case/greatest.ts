/**
 * An organisation that has more than a page of everything, each as large as the service takes it.
 */
import { MAX_EVENT_DETAIL_BYTES, MAX_SOURCE_METADATA_BYTES, newId, type IdKind } from "@attestore/contract";
import { canonicalJson } from "@attestore/proof";
import type { TestService } from "../service.ts";
import type { World } from "../tenancy/world.ts";

const MANY = 201;
/** Bytes of an envelope that `POST /v1/receipts` takes, less what is around the payload. */
const ENVELOPE = 250 * 1024;

export async function fillWithTheGreatest({ pool }: TestService, world: World): Promise<void> {
  const { source, backup, command } = world.ids;
  /** Those that are not made from others. */
  const columnsOf = async (table: string): Promise<string[]> => {
    const { rows } = await pool.query<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_schema = current_schema() and table_name = $1 and is_generated = 'NEVER' order by ordinal_position`,
      [table],
    );
    return rows.map(({ name }) => name);
  };
  /**
   * Copies of a row, with an id of each its own. `set` is SQL for a jsonb object of what else is
   * another, where `n` counts and `id` is the new id.
   */
  const copies = async (
    table: string,
    kind: IdKind,
    of: string | undefined,
    set: string,
    more: readonly unknown[] = [],
  ): Promise<void> => {
    const ids = Array.from({ length: MANY }, () => newId(kind));
    const columns = await columnsOf(table);
    await pool.query(
      `insert into ${table} (${columns.join()}) select ${columns.map((name) => `copied.${name}`).join()} from ${table} as original, unnest($2::text[]) with ordinality as made (id, n),
         lateral jsonb_populate_record(original, jsonb_build_object('id', made.id) || ${set}) as copied where original.id = $1`,
      [of, ids, ...more],
    );
  };

  const metadata = JSON.stringify(greatestMetadata());
  const recipients = Array.from({ length: 32 }, (_, n) => `age1${String(n).padEnd(1020, "q")}`);
  await pool.query(
    `insert into uploads select (jsonb_populate_record(uploads, jsonb_build_object('id', 'upl_' || n, 'object_key', 'worst/' || n))).*
     from uploads, generate_series(1, ${MANY}) as n where uploads.id = (select upload_id from backups where id = $1)`,
    [backup],
  );
  await copies(
    "backups",
    "backup",
    backup,
    `jsonb_build_object('schema_changes', $5::jsonb, 'upload_id', 'upl_' || n, 'object_key', 'worst/' || n, 'cipher', jsonb_build_object('name', 'age-v1', 'recipients', $4::jsonb),
      'source_metadata', $3::jsonb || jsonb_build_object('schema_hash', repeat(lpad((n % 100)::text, 2, '0'), 32)))`,
    [
      metadata,
      JSON.stringify(recipients),
      JSON.stringify({ added: Array(1000).fill("n".repeat(32)), removed: [], altered: [] }),
    ],
  );
  const envelope = greatestEnvelope();
  await pool.query(
    `insert into receipts select (jsonb_populate_record(original, jsonb_build_object('id', made.id, 'log_index', 100000 + made.n, 'backup_id', made.backup_id,
       'envelope', '\\x' || encode($3::bytea, 'hex'), 'envelope_sha256', '\\x' || encode(sha256(made.id::bytea), 'hex')))).*
     from receipts as original, (select ids.id, ids.n, backups.id as backup_id from unnest($2::text[]) with ordinality as ids (id, n)
       join (select id, row_number() over (order by id) as n from backups where source_id = $4) as backups using (n)) as made
     where original.id = $1`,
    [world.ids.receipt, Array.from({ length: MANY }, () => newId("receipt")), envelope, source],
  );
  const body = Buffer.from(
    canonicalJson({
      detail: { message: 'é"\\\\'.repeat(MAX_EVENT_DETAIL_BYTES / 8) },
      kind: "backup_failed",
    }),
  );
  await copies(
    "events",
    "event",
    world.ids.event,
    `jsonb_build_object('kind', 'backup_failed', 'source_id', '${source}', 'log_index', 100000 + n, 'body', '\\x' || encode($3::bytea, 'hex'))`,
    [body],
  );
  await copies("commands", "command", command, `'{}'::jsonb`);
  await copies(
    "agents",
    "agent",
    world.ids.agent,
    `jsonb_build_object('token_sha256', '\\x' || encode(sha256(made.id::bytea), 'hex'), 
      'key_fingerprint', made.id, 'encryption', jsonb_build_object('recipients', $3::jsonb))`,
    [JSON.stringify(recipients)],
  );
  await copies(
    "api_logs",
    "apiLog",
    world.ids.apiLog,
    `jsonb_build_object('path', repeat('p', 8000), 'user_agent', repeat('u', 4000))`,
  );
  await copies("users", "user", world.ids.user, `jsonb_build_object('email', made.id || '@example.org')`);
  await copies("sources", "source", source, `jsonb_build_object('slug', 's' || n)`);
}

function greatestMetadata(): Record<string, unknown> {
  const objects = [];
  const room = MAX_SOURCE_METADATA_BYTES - 1024;
  for (let left = room; left > 40; left -= 40)
    objects.push({ kind: "t", name: `n${String(objects.length).padStart(8, "0")}` });
  return {
    engine: "postgresql",
    engine_version: "15.14",
    dump_format: "pg_dump-custom",
    schema_hash: "ab".repeat(32),
    schema_summary: { objects, omitted: 0 },
  };
}

/** A restore test's, of as many checks as there is room for. */
function greatestEnvelope(): Buffer {
  const check = (n: number) => ({
    id: `c${n}`,
    definition_sha256: "5f".repeat(32),
    observed: { n },
    expectation: "n >= 1000",
    duration_ms: 12,
    result: "passed",
  });
  const count = Math.floor((ENVELOPE * 0.75) / (JSON.stringify(check(1000)).length + 1));
  const predicate = {
    started_at: "2026-11-21T08:00:00.000Z",
    finished_at: "2026-11-21T08:01:00.000Z",
    result: "passed",
    runtime: { kind: "process", engine: "postgresql", engine_version: "15.14" },
    checks: Array.from({ length: count }, (_, n) => check(n)),
  };
  const payload = Buffer.from(JSON.stringify({ predicate })).toString("base64");
  return Buffer.from(
    JSON.stringify({ payload, payloadType: "application/vnd.in-toto+json", signatures: [] }),
  );
}
