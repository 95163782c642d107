import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCli, type Finished } from "./service/cli.ts";

/** Root copied config.yaml back into a root that belongs to the agent's user. */

const OWNER = 65_534;
let base: string;
let root: string;

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-closed-"));
  chmodSync(base, 0o755);
  root = join(base, "root");
  expect((await cli("init", "--standalone")).code).toBe(0);
  execFileSync("chown", ["-R", `${OWNER}:${OWNER}`, root]);
  chownSync(join(root, "config.yaml"), 0, 0);
});
afterEach(() => rmSync(base, { recursive: true }));

const cli = (...args: string[]): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base });

it("doctor says how the agent's user gets a config.yaml that it may not read, and that ends it", async () => {
  const closed = await cli("doctor", "--json");
  const { findings } = JSON.parse(closed.stdout) as { findings: { title: string; next: string | null }[] };
  const next = findings.find(({ title }) => title === "config.yaml")?.next ?? "";
  expect(next).toMatch(/^chown /);
  execFileSync("sh", ["-c", next]);
  expect((await cli("status")).stderr).not.toContain("EACCES");
});
