import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { readCiphertext } from "../../../src/crypto/ciphertext.ts";
import { unseal } from "../../../src/crypto/unseal.ts";
import { reseal, type Resealed } from "../scratch.ts";
import { backup, nothingLeft, place, server, testIt, useShopOnMariadb } from "./shop-on-mariadb.ts";

useShopOnMariadb();

async function resealed(change: (sql: string) => string): Promise<Resealed> {
  const pieces: Buffer[] = [];
  for await (const piece of unseal(readCiphertext({ path: backup.path }), [place.identity]))
    pieces.push(Buffer.from(piece));
  const before = Buffer.concat(pieces).toString("latin1");
  const after = change(before);
  expect(after).not.toBe(before);
  return reseal(place, Buffer.from(after, "latin1"));
}
const failing = async (made: Resealed): Promise<string[]> => {
  const tested = await testIt([], { made });
  expect(tested.result).toBe("failed");
  nothingLeft();
  return tested.checks.filter(({ result }) => result === "failed").map(({ id }) => id);
};

test.each([
  ["truncated", (bytes: Buffer) => bytes.subarray(0, -100)],
  ["flipped", (bytes: Buffer) => bytes.fill((bytes.at(2_000) ?? 0) ^ 1, 2_000, 2_001)],
])(
  "a ciphertext that is %s fails the test, under the recorded digest and under its own",
  async (_, change) => {
    const bytes = change(readFileSync(backup.path));
    const path = join(place.dir, "damaged.age");
    await writeFile(path, bytes);
    for (const sha256 of [backup.sha256, createHash("sha256").update(bytes).digest("hex")])
      expect(await testIt([], { made: { path, sha256 } })).toMatchObject({ result: "failed", checks: [] });
  },
);

test("a missing table fails the test", async () => {
  const section = /-- Table structure for table `years`[^]*?(?=--\n-- (?:T|Dumping (?:events|routines)))/;
  expect(await failing(await resealed((sql) => sql.replace(section, "")))).toEqual([
    "inferred:tables",
    "inferred:schema",
    "inferred:objects",
  ]);
  // Its rows are there, and nowhere to go.
  const made = await resealed((sql) => sql.replace("CREATE TABLE `years`", "CREATE TABLE `yearz`"));
  expect(await testIt([], { made })).toMatchObject({ result: "failed", checks: [] });
});

test("an emptied table fails the test", async () => {
  const made = await resealed((sql) => sql.replace(/INSERT INTO `items` VALUES[^;]*;/g, ""));
  expect(await failing(made)).toEqual(["inferred:rows:shop.items", "inferred:content"]);
});

test("a table that is short of one row fails the test", async () => {
  const made = await resealed((sql) =>
    sql.replace(/INSERT INTO `items` VALUES\s*\(1,1\),/, "INSERT INTO `items` VALUES"),
  );
  expect(await failing(made)).toEqual(["inferred:rows:shop.items", "inferred:content"]);
});

test("a row that breaks a rule fails the test, and is not quoted", async () => {
  const made = await resealed((sql) => sql.replace("(777,'paid',777.00,", "(777,'paid',-77.00,"));
  const tested = await testIt([], { made });
  expect(tested).toMatchObject({ result: "failed", checks: [] });
  expect(tested.reason).toMatch(
    /^the dump cannot be loaded \(error (?:4025, SQLSTATE 23000|3819, SQLSTATE HY000), at line [0-9]+ of the dump\): a row breaks the check constraint (?:orders\.price|orders_chk_1)\. /,
  );
  expect(tested.reason).not.toMatch(/77/);
});

test("a dump that ends between two statements fails the test", async () => {
  const made = await resealed((sql) => sql.slice(0, sql.lastIndexOf("-- Dump completed")));
  expect(await testIt([], { made })).toMatchObject({
    result: "failed",
    reason: "the dump's last line is missing: it was cut short",
  });
});

test("a dump with a command for a shell runs none", async () => {
  const made = await resealed((sql) =>
    sql.replace("USE `shop`;", "USE `shop`;\n\\! touch /tmp/attestore-was-here\n"),
  );
  expect(await testIt([], { made })).toMatchObject({ result: "failed", checks: [] });
  expect(existsSync("/tmp/attestore-was-here")).toBe(false);
});

describe("a dump whose statements reach for more than the restored databases", () => {
  const spoils = (): string => join(place.dir, "spoils");
  beforeAll(async () => {
    // Where the scratch server's user may write, whoever that is.
    mkdirSync(spoils());
    chmodSync(spoils(), 0o777);
    await writeFile(join(place.dir, "age.key"), "AGE-SECRET-KEY-1SPOILS\n", { mode: 0o600 });
  });

  test.each([
    [
      "reads a file of ours through the client",
      "set global local_infile = 1; create table leak (l text); load data local infile '{dir}/age.key' into table leak; drop table leak;",
    ],
    [
      "appends to files by the general log",
      "set global general_log_file = '{spoils}/authorized_keys'; set global general_log = 1; select 'ssh-ed25519 AAAA'; set global general_log = 0;",
    ],
    [
      "runs as an account that may more",
      "create definer = root@localhost procedure p() sql security definer set global event_scheduler = 1; call p();",
    ],
  ])("%s: is refused, and nothing of it is done", async (_, statements) => {
    const filled = statements.replaceAll("{spoils}", spoils()).replaceAll("{dir}", place.dir);
    const made = await resealed((sql) => sql.replace(/\n(?=-- Dump completed)/, `\nuse shop;\n${filled}\n`));
    const tested = await testIt([], { made });
    expect(tested).toMatchObject({ result: "failed", checks: [] });
    expect(tested.reason).toMatch(
      /^the dump cannot be loaded \(error (?:1044|1045|1095|1142|1227|1290|1370|1449|3948|4166),/,
    );
    expect(readdirSync(spoils())).toEqual([]);
    nothingLeft();
  });
});

test.each([
  [
    "by an error of its own that says so",
    "signal sqlstate 'HY000' set mysql_errno = 1021, message_text = 'Errcode: 28';",
  ],
  ["in a routine", "begin not atomic signal sqlstate 'HY000' set mysql_errno = 1286; end;"],
  ["by the end of its connection", "kill connection_id();"],
  [
    "by a text in a statement that fails",
    "insert into no_such values ('\nERROR 1021 (HY000) at line 1: No space left on device');",
  ],
])("a dump does not choose that its test could not run, %s", async (_, statement) => {
  const made = await resealed((sql) =>
    sql.replace(/\n(?=-- Dump completed)/, () => `\nuse shop;\n${statement}\n`),
  );
  expect(await testIt([], { made })).toMatchObject({
    result: "failed",
    reason: expect.stringContaining("the dump cannot be loaded"),
  });
  nothingLeft();
});

test("a place that is too old, of another product, or lacks something, could not run", async () => {
  const [newer, other] =
    server.product === "MySQL" ? ["99.1.0", "10.11.6-MariaDB"] : ["99.1.0-MariaDB", "8.0.36"];
  await expect(testIt([], { metadata: { engine_version: newer } })).rejects.toMatchObject({
    code: "tool_too_old",
  });
  await expect(testIt([], { metadata: { engine_version: other } })).rejects.toMatchObject({
    code: "tool_missing",
  });
  await expect(
    testIt([], { metadata: { storage_engines: ["InnoDB", "Columnstore"] } }),
  ).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringContaining("Columnstore"),
  });
  const made = await resealed((sql) => sql.replaceAll(/utf8mb4_\w+_ci/g, "utf8mb4_nowhere_ci"));
  await expect(testIt([], { made })).rejects.toMatchObject({ code: "sandbox_lacks" });
  nothingLeft();
});

test("a dump that changes to a database which nobody made fails, and is not taken for a lack of the server", async () => {
  const made = await resealed((sql) => sql.replace("USE `shop`;", "USE `shoq`;"));
  expect(await testIt([], { made })).toMatchObject({
    result: "failed",
    reason: expect.stringMatching(/error 1049.*: it changes to the database shoq, which it does not make/),
  });
  nothingLeft();
});

test("a view of a database that is not in the backup could not be made; one of a lost table fails", async () => {
  const reading = (table: string): Promise<Resealed> =>
    resealed((sql) =>
      sql.replace(
        /\n(?=-- Dump completed)/,
        () => `\nuse shop;\ncreate view seen as select * from ${table};\n`,
      ),
    );
  await expect(testIt([], { made: await reading("`ware house`.stock") })).rejects.toMatchObject({
    code: "sandbox_lacks",
    message: expect.stringMatching(
      /reads the database ware house, which is not in this backup: back up both/,
    ),
  });
  for (const table of ["shop.lost", "mysql.lost"])
    expect(await testIt([], { made: await reading(table) })).toMatchObject({
      result: "failed",
      reason: expect.stringContaining("the dump cannot be loaded"),
    });
  // A dump that does not make its own database is to blame, and MySQL has the same error for it.
  const unmade = await resealed((sql) => sql.replace(/^CREATE DATABASE .*`shop`.*\n/m, ""));
  expect(await testIt([], { made: unmade })).toMatchObject({
    result: "failed",
    reason: expect.stringContaining("the dump cannot be loaded (error 1049"),
  });
  nothingLeft();
});
