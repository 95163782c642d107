import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type SourcePostgres, startSourcePostgres } from "./runs/source-postgres.ts";
import { type Finished, jsonOf, runCli } from "./service/cli.ts";

/** A good backup of bad data: told, and the last clean one is kept. */

let base: string;
let server: SourcePostgres;
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-suspicious-"));
  server = await startSourcePostgres(base);
});
afterAll(async () => {
  await server?.close();
  rmSync(base, { recursive: true });
});

const cli = (...args: string[]): Promise<Finished> =>
  runCli(args, {
    env: {
      ATTESTORE_HOME: join(base, "root"),
      TEST_SOURCE_URL: process.env["TEST_SOURCE_URL"] ?? "",
    },
    cwd: base,
  });

const json = <T = Record<string, unknown>>(args: string[], code = 0): Promise<T> =>
  jsonOf<T>(cli(...args, "--json"), code);

interface Tested {
  readonly result: string;
  readonly backup_id: string;
  readonly receipt_file: string;
  readonly suspicious: readonly Record<string, unknown>[];
}
interface Status {
  readonly sources: readonly {
    readonly last_clean_backup: string | null;
    readonly last_test: { readonly suspicious: readonly string[] };
  }[];
}

async function tested(code: 0 | 1 = 0): Promise<Tested> {
  await json(["backup"]);
  return json<Tested>(["restore-test"], code);
}

it("a source that somebody encrypts is suspicious, and retention keeps the last clean backup until somebody accepts it", async () => {
  server.sql(`create table orders (id int primary key, note text);
    insert into orders select i, 'please leave parcel ' || i || ' with the neighbours' from generate_series(1, 2000) i`);
  await json(["init", "--standalone"]);
  const file = join(base, "root", "config.yaml");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}\nsources:\n  shop: { engine: postgresql, connection: env:TEST_SOURCE_URL }\n`,
  );
  const clean = await tested();
  expect(clean.suspicious).toEqual([]);

  server.sql(
    "update orders set note = encode(sha256(note::bytea) || sha256(id::text::bytea), 'base64') where id % 10 = 0",
  );
  const first = await tested();
  expect(first).toMatchObject({
    result: "passed",
    suspicious: [{ table: "public.orders", column: "note", measure: "random", before: 0 }],
  });
  const second = await tested();
  expect(second.suspicious).toHaveLength(1);

  const status = await json<Status>(["status"]);
  expect(status.sources[0]).toMatchObject({
    last_clean_backup: clean.backup_id,
    last_test: {
      suspicious: [expect.stringContaining("public.orders.note: the share of texts that look encrypted")],
    },
  });
  const shown = await cli("status");
  expect(shown.stdout).toContain(`last clean backup ${clean.backup_id}`);
  const again = await cli("restore-test");
  expect(again.code).toBe(0);
  expect(again.stdout).toContain("but what it holds is suspicious");
  expect(again.stdout).toContain("attestore accept shop public.orders --because REASON");

  const pruned = await json<{ kept: { id: string; by: string[] }[]; removed: string[] }>([
    "prune",
    "--keep-last",
    "1",
    "--yes",
  ]);
  expect(pruned.removed).toEqual([first.backup_id]);
  expect(pruned.kept.find(({ id }) => id === clean.backup_id)?.by).toEqual(["clean"]);
  expect((await json<Tested>(["restore-test", "--backup", clean.backup_id])).suspicious).toEqual([]);

  writeFileSync(
    file,
    readFileSync(file, "utf8").replace("TEST_SOURCE_URL }", "TEST_SOURCE_URL, on_suspicion: fail }"),
  );
  const failed = await tested(1);
  expect(failed.result).toBe("failed");

  await json(["accept", "shop", "public.orders", "--because", "notes are encrypted from now on"]);
  expect((await tested()).suspicious).toEqual([]);
  const last = await json<{ removed: string[] }>(["prune", "--keep-last", "1", "--yes"]);
  expect(last.removed).toContain(clean.backup_id);
  const { storage } = await json<{ storage: string }>(["status"]);
  const stored = readdirSync(storage, { recursive: true, encoding: "utf8" });
  expect(stored.some((name) => name.includes(clean.backup_id))).toBe(false);
});
