import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCli, type Finished } from "./service/cli.ts";

/** A root whose file system Linux has made read-only, as it does when the disk reports errors. */

let base: string;
let root: string;
const cli = (...args: string[]): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base });
const mount = (...options: string[]): unknown => execFileSync("mount", [...options, root]);

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-read-only-"));
  root = join(base, "root");
  mkdirSync(root, { mode: 0o700 });
  mount("-t", "tmpfs", "-o", "size=32m,mode=0700", "tmpfs");
  mkdirSync(join(base, "papers"));
  writeFileSync(join(base, "papers/one.txt"), "one\n");
  expect((await cli("init", "--standalone")).code).toBe(0);
  const added = await cli("source", "add", "papers", "--engine", "files", "--path", "papers", "--yes");
  expect(added.code, added.stderr).toBe(0);
  expect((await cli("backup")).code).toBe(0);
});
afterEach(() => {
  execFileSync("umount", ["--lazy", root]);
  rmSync(base, { recursive: true });
});

it("a read-only root is named by each command, doctor and status, and all is well once it can be written", async () => {
  mount("-o", "remount,ro");
  const refused = await cli("backup", "--json");
  expect(refused.code, refused.stderr).toBe(2);
  const { error, message } = JSON.parse(refused.stdout) as { error: string; message: string };
  expect(error).toBe("erofs");
  expect(message).toContain(root);
  expect(message).toContain("its file system is read-only. Mount it so that it can be written");
  const status = await cli("status");
  expect(status.code).toBe(1);
  expect(status.stdout).toContain(`${root} is on a read-only file system, so no run can be recorded`);
  const doctor = await cli("doctor");
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/✗ disk .* is on a read-only file system.*\n +see dmesg for why/);
  mount("-o", "remount,rw");
  expect((await cli("backup")).code).toBe(0);
  expect((await cli("doctor")).stdout).toMatch(/[✓!] disk /);
});
