import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { writeLargePack } from "../../tests/e2e/harness/large-pack.ts";
import { releaseHere } from "./release-here.ts";

const { out } = await releaseHere();
const VERIFIER = join(out, "attestore-verify-linux-amd64");

const directory = mkdtempSync(join(tmpdir(), "attestore-verifier-memory-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** Runs a program, and says how it ended and what memory it had at most, in KiB. */
const MEASURED = `
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
`;

test("the verifier's executable has some ninety megabytes for a pack of 6,000 receipts", async () => {
  const pack = join(directory, "large.zip");
  const { logKey, agentPub } = await writeLargePack(pack, 6000);
  const key = join(directory, "agent.pub");
  writeFileSync(key, agentPub);
  const args = ["-c", MEASURED, VERIFIER, pack, "--log-key", logKey, "--key", key];
  const [code, peak_kib] = execFileSync("python3", args, { encoding: "utf8" }).trim().split(" ").map(Number);
  expect(code).toBe(0);
  expect(peak_kib).toBeLessThan(128 * 1024);
});
