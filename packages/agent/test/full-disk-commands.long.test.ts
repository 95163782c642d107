import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SmallDisk } from "../../host/test/small-disk.ts";
import { runCli, type Finished } from "./service/cli.ts";

/** Each command of a standalone root whose disk, a tmpfs of 4 MiB, is full. */

let base: string;
let root: string;
let disk: SmallDisk;

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-full-"));
  root = join(base, "root");
  mkdirSync(root, { mode: 0o700 });
  disk = new SmallDisk(root, { bytes: 4 << 20, isLazy: true });
  mkdirSync(join(base, "papers"));
  writeFileSync(join(base, "papers/one.txt"), "one\n");
  expect((await cli("init", "--standalone")).code).toBe(0);
  await add("papers");
});
afterEach(() => {
  disk[Symbol.dispose]();
  rmSync(base, { recursive: true });
});

const cli = (...args: string[]): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: root }, cwd: base });

async function add(name: string): Promise<void> {
  const added = await cli(
    "source",
    "add",
    name,
    "--engine",
    "files",
    "--path",
    join(base, "papers"),
    "--yes",
  );
  expect(added.code, added.stderr).toBe(0);
}

/** Every file and its content; not the locks, which only say who works here. */
function files(): Map<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  return new Map(
    names
      .filter((name) => !name.startsWith("locks/") && statSync(join(root, name)).isFile())
      .map((name) => [name, readFileSync(join(root, name), "base64")]),
  );
}

/** It says what could not be written, and leaves every file as it was. */
async function expectFull(unwritten: string, ...args: string[]): Promise<Finished> {
  const before = files();
  const done = await cli(...args, "--json");
  const all = `${args.join(" ")}\n${done.stdout}${done.stderr}`;
  expect(done.code, all).toBe(2);
  const { error, message } = JSON.parse(done.stdout) as { error: string; message: string };
  expect(error, all).toBe("disk_full");
  expect(message).toMatch(/no space left|not enough space/);
  expect(message).toContain(unwritten);
  expect(done.stderr).not.toMatch(/\n\s+at |bug in attestore/);
  expect(files(), all).toEqual(before);
  return done;
}

it.each([
  ["keys rotate signing", "keys/", ["keys", "rotate", "signing", "--yes"]],
  ["keys rotate encryption", "keys/age-", ["keys", "rotate", "encryption", "--yes"]],
  ["keys export", "root/public.json", ["keys", "export", "--output", "root/public.json"]],
  [
    "keys recovery-kit",
    "root/kit-1.txt",
    ["keys", "recovery-kit", "--output", "root/kit.txt", "--shares", "3", "--threshold", "2", "--yes"],
  ],
  [
    "source add",
    "config.yaml",
    ["source", "add", "more", "--engine", "files", "--path", "/etc/apt", "--yes"],
  ],
  ["source remove", "config.yaml", ["source", "remove", "papers", "--yes"]],
  ["backup", "blobs", ["backup"]],
] as const)(
  "%s on a full disk names what it could not write, and works when there is room",
  async (_, unwritten, args) => {
    disk.fill();
    await expectFull(unwritten, ...args);
    disk.empty();
    const again = await cli(...args);
    expect(again.code, again.stderr).toBe(0);
  },
);

it("a restore and a restore test name what they could not write, and leave no output", async () => {
  expect((await cli("backup")).code).toBe(0);
  disk.fill();
  await expectFull(join(root, "scratch"), "restore", "--source", "papers", "--output", join(root, "back"));
  expect(existsSync(join(root, "back"))).toBe(false);
  await expectFull(root, "restore-test", "--source", "papers");
  disk.empty();
  const tested = await cli("restore-test", "--source", "papers");
  expect(tested.code, tested.stderr).toBe(0);
});

it("status and doctor say that the disk is full, and no longer once there is room", async () => {
  expect((await cli("backup")).code).toBe(0);
  expect((await cli("restore-test")).code).toBe(0);
  disk.fill();
  const status = await cli("status");
  expect(status.code).toBe(1);
  expect(status.stdout).toContain(`the disk of ${root} is full`);
  const doctor = await cli("doctor");
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/✗ disk .* no run can be recorded\n +make room there/);
  disk.empty();
  expect((await cli("status")).stdout).not.toContain("is full");
});

it("a URL with a password does not stay behind if config.yaml cannot be written", async () => {
  // Room for the password's file of one block, and for nothing behind it.
  disk.fill(4096);
  const before = files();
  const done = await runCli(
    ["source", "add", "shop", "--engine", "postgresql", "--connection", "-", "--no-probe", "--yes"],
    { env: { ATTESTORE_HOME: root }, cwd: base, stdin: "postgresql://jo:secret@db.invalid/shop\n" },
  );
  expect(done.code, done.stderr).toBe(2);
  expect(done.stderr).toContain(join(root, "config.yaml"));
  expect(files()).toEqual(before);
});

it.each([true, false])(
  "a recovery kit on another disk is not left behind if config.yaml cannot be written (shares: %s)",
  async (isSplit) => {
    const shares = isSplit ? ["--shares", "3", "--threshold", "2"] : [];
    const kit = ["keys", "recovery-kit", "--output", join(base, "kit.txt"), ...shares, "--yes"];
    disk.fill();
    await expectFull("config.yaml", ...kit);
    expect(readdirSync(base).filter((name) => name.startsWith("kit"))).toEqual([]);
    disk.empty();
    const again = await cli(...kit);
    expect(again.code, again.stderr).toBe(0);
  },
);

it("a recovery kit on stdout opens nothing if config.yaml cannot be written, and that is said", async () => {
  disk.fill();
  const done = await cli("keys", "recovery-kit", "--output", "-", "--yes");
  expect(done.code).toBe(2);
  expect(done.stderr).toContain("destroy it");
});
