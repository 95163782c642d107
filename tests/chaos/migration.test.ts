import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate, readMigrations } from "../../packages/orchestrator/src/platform/database/migrate.ts";
import { silentLogger } from "../../packages/orchestrator/src/platform/logging/logger.ts";
import { declareSource, writeEncryptedDump, type BackupRecord } from "../e2e/harness/backups.ts";
import { attach, createOrganisation, type WireAgent } from "../e2e/harness/organisation.ts";
import { startServer, type Server } from "../e2e/harness/server.ts";
import { ReceiptStream } from "./receipt-stream.ts";
import { storedReceipts } from "./stored-receipts.ts";

/**
 * The next release's migration of a large table, while this release serves. To measure what
 * receipts feel of it (docs/reliability.md), which no test judges:
 * `MIGRATION_ROWS=1000000 npx vitest run --project chaos tests/chaos/migration.test.ts`
 */
const MEASURED = process.env["MIGRATION_ROWS"];
const ROWS = Number(MEASURED ?? 10_000);
/** Receipts that stream in before it, for the comparison. */
const QUIET = MEASURED === undefined ? 10 : 100;

/** As docs/migrations.md says that large tables are migrated. */
const NEXT = `
-- step: transaction
alter table receipts add column if not exists envelope_bytes integer;
-- step: batched
with batch as (select id from receipts where id > $1 order by id limit 2000),
  done as (update receipts set envelope_bytes = length(envelope) from batch where receipts.id = batch.id and envelope_bytes is null)
select max(id) as last from batch;
-- step: concurrent
create index concurrently receipts_envelope_bytes on receipts (org_id, envelope_bytes);
`;

let server: Server;
let submitters: { agent: WireAgent; backup: BackupRecord }[];
beforeAll(async () => {
  server = await startServer({ ATTESTORE_RATE_DEFAULT: "1000000/60" });
  submitters = [];
  for (let n = 0; n < 2; n++) {
    const agent = await attach(await createOrganisation(server));
    submitters.push({ agent, backup: await writeEncryptedDump(agent, await declareSource(agent)) });
  }
});
afterAll(() => server.remove());

const connection = (): pg.ClientConfig & { host: string } => {
  const file = readFileSync(join(server.data, "postgres", "data", "postmaster.pid"), "utf8").split("\n");
  return { host: file[4] ?? "", port: Number(file[3]), user: "attestore", database: "postgres" };
};

async function query<Row extends object>(...statements: string[]): Promise<Row[]> {
  const client = new pg.Client(connection());
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}

/** Of a receipt. No log has them: only their number counts here. */
async function addCopies(): Promise<void> {
  const columns = await query<{ name: string }>(
    "select attname as name from pg_attribute where attrelid = 'receipts'::regclass and attnum > 0 and not attisdropped and attgenerated = ''",
  );
  const values = columns.map(({ name }) =>
    name === "id"
      ? "'rcpt_00' || lpad(n::text, 24, '0')"
      : name === "envelope_sha256"
        ? "sha256(n::text::bytea)"
        : `one.${name}`,
  );
  await query(
    // Without the triggers, which count receipts.
    "set session_replication_role = replica",
    `insert into receipts (${columns.map(({ name }) => name).join()})
     select ${values.join()} from (select * from receipts limit 1) as one, generate_series(1, ${ROWS}) as n`,
    "vacuum analyze receipts",
  );
}

const p99 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;

test(
  `a migration of ${ROWS} receipts neither refuses nor loses any that arrive meanwhile`,
  async () => {
    await using stream = new ReceiptStream(submitters, 1);
    await stream.advance(1);
    await addCopies();
    const before = stream.took_ms.length;
    await stream.advance(QUIET);
    const quiet = stream.took_ms.slice(before);

    const known = await readMigrations();
    const next = { version: 9000, name: "9000_next.sql", sql: NEXT, sha256: "next" };
    const began = stream.took_ms.length;
    const started = performance.now();
    expect(await migrate(connection(), silentLogger, [...known, next])).toEqual([9000]);
    const seconds = (performance.now() - started) / 1000;
    const answered = stream.took_ms.length - began;
    await stream.advance(10);
    await stream.stop();
    if (MEASURED !== undefined) print(seconds, quiet, stream.took_ms.slice(began));

    expect(stream.disturbed).toBe(0);
    expect(answered).toBeGreaterThan(0);
    const counted = await query<{ rows: number; filled: number }>(
      `select count(*)::int as rows, count(envelope_bytes)::int as filled from receipts where id < 'rcpt_01'`,
    );
    expect(counted).toEqual([{ rows: ROWS, filled: ROWS }]);
    const stored = await storedReceipts(server.data);
    for (const { receipt, envelopeSha256 } of stream.acknowledged)
      expect(stored.get(receipt.receipt_id)).toEqual({
        log_index: receipt.log_index,
        envelope: envelopeSha256,
      });
  },
  30 * 60_000,
);

function print(seconds: number, quiet: readonly number[], meanwhile: readonly number[]): void {
  process.stdout.write(
    `${ROWS} rows in ${seconds.toFixed(1)} s; receipts: p99 ${p99(quiet).toFixed(0)} ms before, ` +
      `${p99(meanwhile).toFixed(0)} ms meanwhile (${meanwhile.length}), longest ${Math.max(...meanwhile).toFixed(0)} ms\n`,
  );
}

test("this release does not start on a database that a later release has migrated, and changes nothing in it", async () => {
  await server.stop();
  const refused = await server.cli("migrate");
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("a newer version migrated it");
});
