import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { unreleased, withRelease } from "../../../tools/release/changelog.ts";
import { withClient } from "../src/platform/database/client.ts";
import { runSteps, stepsOf } from "../src/platform/database/migration-steps.ts";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { openTestDatabase } from "./database/test-database.ts";

/** Reminds the author of the second release of two keys that the first one still has to keep. */

const ROOT = join(import.meta.dirname, "../../..");

/** Whether the first version was released, and work on the next one has begun. */
function isSecondRelease(changelog: string): boolean {
  return /^## \d/m.test(changelog) && unreleased(changelog) !== "";
}

test("the second release drops two keys: do what docs/migrations.md says under 'Keys that the second release drops'", async () => {
  const first = "# Changelog\n\n## Unreleased\n\n- A thing.\n";
  const released = withRelease(first, "0.1.0", "2026-12-01");
  const second = released.replace("## Unreleased\n", "## Unreleased\n\n- Another.\n");
  expect([first, released, second].map(isSecondRelease)).toEqual([false, false, true]);
  expect(isSecondRelease(await readFile(join(ROOT, "CHANGELOG.md"), "utf8"))).toBe(false);
});

test("the steps that docs/migrations.md gives for that drop the two keys, put others in their place, and can be repeated", async () => {
  const page = await readFile(join(ROOT, "docs/migrations.md"), "utf8");
  const text = /<!-- runs: keys-of-before -->\n+```sql\n([^]*?)```/.exec(page)?.[1] ?? "";
  const steps = stepsOf("docs/migrations.md", text) ?? [];
  expect(steps).toHaveLength(3);
  const database = await openTestDatabase();
  const keys = async (): Promise<Record<string, string>> => {
    const { rows } = await database.pool.query<{ name: string; columns: string }>(
      `select indexname as name, substring(indexdef from '\\((.*)\\)$') as columns from pg_indexes
        where indexname in ('backups_upload_id_key', 'backups_uploads', 'scheduled_runs_pkey', 'scheduled_runs_key')
          and indexdef like 'CREATE UNIQUE%'`,
    );
    return Object.fromEntries(rows.map(({ name, columns }) => [name, columns]));
  };
  try {
    expect(await keys()).toEqual({
      backups_upload_id_key: "upload_id",
      scheduled_runs_pkey: "source_id, kind, scheduled_at",
      scheduled_runs_key: "source_id, kind, scheduled_at, org_id",
    });
    await withClient(database.connection, { name: "keys", statement_ms: 60_000 }, async (client) => {
      for (let run = 0; run < 2; run += 1) await runSteps(client, steps, silentLogger);
    });
    expect(await keys()).toEqual({
      backups_uploads: "upload_id, org_id",
      scheduled_runs_key: "source_id, kind, scheduled_at, org_id",
    });
    const { rows } = await database.pool.query(
      "select conname from pg_constraint where conrelid = 'scheduled_runs'::regclass and contype = 'p'",
    );
    expect(rows).toEqual([{ conname: "scheduled_runs_key" }]);
  } finally {
    await database.close();
  }
});
