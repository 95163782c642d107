import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, inject, test } from "vitest";
import { writeLargePack } from "../harness/large-pack.ts";

const directory = mkdtempSync(join(tmpdir(), "attestore-large-pack-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** A heap in MiB. The program needs less than two thirds of it, however large the pack is. */
const HEAP = 16;
/** With only 2 KiB of each in memory, these would be more than the heap. */
const RECEIPTS = 6000;

test("a pack is verified in a heap that has no room for its receipts", async () => {
  const pack = join(directory, "large.zip");
  const { logKey, agentPub } = await writeLargePack(pack, RECEIPTS);
  const key = join(directory, "agent.pub");
  writeFileSync(key, agentPub);
  const args = [pack, "--log-key", logKey, "--key", key];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`--max-old-space-size=${HEAP}`, inject("programs")["attestore-verify"], ...args],
    { encoding: "utf8" },
  );
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^TRUE /);
  expect(stdout).toContain(
    `held         receipts            receipts signed by their agents and in the log: ${RECEIPTS} receipts`,
  );
  expect(status).toBe(0);
});
