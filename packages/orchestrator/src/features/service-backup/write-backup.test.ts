import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { newId } from "@attestore/contract";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openTestDatabase, type TestDatabase } from "../../../test/database/test-database.ts";
import { postgresClient } from "../../../test/postgres-client.ts";
import { findClientPrograms } from "../../platform/postgres/client-programs.ts";
import { type BackupOptions, requireBackable, writeServiceBackup } from "./write-backup.ts";

let database: TestDatabase;
let directory: string;
let options: BackupOptions;
const orgId = newId("org");
beforeEach(async () => {
  database = await openTestDatabase();
  directory = await mkdtemp(join(tmpdir(), "attestore-backup-"));
  await mkdir(join(directory, "backups"));
  await database.pool.query("insert into orgs (id, name, slug) values ($1, 'One', 'one')", [orgId]);
  await database.pool.query(
    "insert into logs (org_id, origin, root_hash) values ($1, 'log.test/one', sha256(''))",
    [orgId],
  );
  options = {
    connection: database.connection,
    programs: await findClientPrograms({ client: postgresClient() }, await requireBackable(database.pool)),
    identity: { log_host: "log.test", log_key: "key", cosigner_key: "key", sealing_key_check: "check" },
    dataDirectory: join(directory, "data"),
    settings: {},
    directory: join(directory, "backups"),
    recipients: [await identityToRecipient(await generateX25519Identity())],
    now: new Date(),
  };
});
afterEach(async () => {
  await database.close();
  await rm(directory, { recursive: true });
});

/** Its snapshot is taken, and the dump waits for a table while the log takes an entry. */
async function backUpWhileTheLogGrows(): Promise<unknown> {
  const holder = await database.pool.connect();
  try {
    await holder.query("begin; lock table mail_outbox in access exclusive mode");
    const written = writeServiceBackup(options).catch((error: unknown) => error);
    await vi.waitFor(
      async () => {
        const { rowCount } = await database.pool.query("select from pg_locks where not granted");
        expect(rowCount).toBe(1);
      },
      { timeout: 20_000 },
    );
    await database.pool.query("update logs set tree_size = tree_size + 1 where org_id = $1", [orgId]);
    await holder.query("commit");
    return await written;
  } finally {
    // With its connection: whatever still holds the lock would keep the database from being closed.
    holder.release(true);
  }
}

test("a backup of the service has one moment while its logs grow", async () => {
  expect(await backUpWhileTheLogGrows()).toMatchObject({ logs: { logs: 1, entries: 0 } });
  expect(await readdir(options.directory)).toHaveLength(1);
});

test("where Citus spreads rows, a backup that was made while logs grew is refused and removed, and another one is not", async () => {
  // As much of Citus as the service looks at.
  await database.pool.query("create table pg_dist_partition (logicalrelid regclass)");
  await database.pool.query("insert into pg_dist_partition values ('receipts')");
  expect(await backUpWhileTheLogGrows()).toMatchObject({
    code: "backup_failed",
    message: expect.stringContaining("Stop every replica") as unknown,
  });
  expect(await readdir(options.directory)).toEqual([]);
  expect(await writeServiceBackup(options)).toMatchObject({ logs: { logs: 1, entries: 1 } });
});

test("a backup of the service into a missing directory fails, and makes none", async () => {
  const missing = join(directory, "not-mounted");
  await expect(writeServiceBackup({ ...options, directory: missing })).rejects.toMatchObject({
    code: "ENOENT",
  });
  expect(await readdir(directory)).toEqual(["backups"]);
});
