/** What is damaged, left unread or done twice in the archive of old receipts. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fsck } from "../fsck/fsck.ts";
import {
  add,
  archive,
  archivedFiles,
  directory,
  findings,
  rows,
  useArchive,
  world,
} from "../../../test/log/archive-world.ts";

useArchive();

test("two replicas at once archive each entry once", async () => {
  await add(1024, 200);
  const done = await Promise.all([archive(), archive(), archive()]);
  expect(done.reduce((sum, { files: count }) => sum + count, 0)).toBe(4);
  expect(done.reduce((sum, { receipts }) => sum + receipts, 0)).toBe(1024);
  expect((await rows()).every(({ envelope }) => envelope === null)).toBe(true);
  expect(await archivedFiles()).toHaveLength(4);
  expect(await findings()).toEqual([]);
});

test.each([
  ["archived_length = 2147483647", "names a place that the archive cannot have"],
  ["log_index = -1", "names a place that the archive cannot have"],
  ["org_id = '../x'", "names a place that the archive cannot have"],
  ["archived_start = 2147483646", "is missing or too short"],
  ["archived_in = '\\x0000000000000000'", "is missing or too short"],
])("a row with %s is one finding, and the others are still looked at", async (damage, said) => {
  const entries = await add(256, 200);
  await archive();
  const id = entries[9]?.id ?? "";
  const { rows: sound } = await world.pool.query("select * from receipts where id = $1", [id]);
  expect(sound).toHaveLength(1);
  await world.pool.query(`update receipts set ${damage} where id = $1`, [id]);
  const found = await findings();
  expect(found.filter((message) => message.includes(said))).toEqual([expect.stringContaining(id)]);
});

test("can be left unread, and is then named and not counted", async () => {
  await add(300, 200);
  await archive();
  await rm(join(directory, (await archivedFiles())[0] ?? ""));
  const { identity } = world.addReplica().signer;
  const { counts } = await fsck({ pool: world.pool, identity, files: null, onFinding: () => undefined });
  expect(counts.unread).toBeGreaterThanOrEqual(256);
  expect(await findings(null)).toEqual([]);
});
