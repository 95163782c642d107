import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
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
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCli, type Finished } from "./service/cli.ts";

/**
 * Root calls the agent of a root that belongs to another user, as on a host with the package, and
 * asks for a file where only root may write.
 */

const OWNER = 65_534;
let base: string;
let home: string;

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-output-"));
  chmodSync(base, 0o755);
  home = join(base, "home");
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(join(base, "papers"));
  writeFileSync(join(base, "papers/one.txt"), "one\n");
  await done("init", "--standalone");
  await done("source", "add", "papers", "--engine", "files", "--path", join(base, "papers"), "--yes");
  await done("backup");
  execFileSync("chown", ["-R", `${OWNER}:${OWNER}`, join(base, "root")]);
});
afterEach(() => rmSync(base, { recursive: true }));

const cli = (...args: string[]): Promise<Finished> =>
  runCli(args, { env: { ATTESTORE_HOME: join(base, "root") }, cwd: home });

async function done(...args: string[]): Promise<Finished> {
  const finished = await runCli(args, { env: { ATTESTORE_HOME: join(base, "root") }, cwd: base });
  expect(finished.code, finished.stderr).toBe(0);
  return finished;
}

it("gets the file, which belongs to root and which nobody else can read", async () => {
  const restored = await cli("restore", "--source", "papers", "--output", "papers.tar");
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining(`${home}/papers.tar  `) });
  expect(execFileSync("tar", ["-xOf", join(home, "papers.tar"), "./one.txt"]).toString()).toBe("one\n");
  const exported = await cli("keys", "export", "--output", join(home, "agent.pub"), "--json");
  expect(JSON.parse(exported.stdout)).toEqual({ output: join(home, "agent.pub") });
  expect(await cli("keys", "recovery-kit", "--output", "kit.html")).toMatchObject({ code: 0 });
  expect(readFileSync(join(home, "kit.html"), "utf8")).toContain("AGE-SECRET-KEY-1");
  const shares = ["--shares", "3", "--threshold", "2", "--yes"];
  expect(await cli("keys", "recovery-kit", "--output", "share.txt", ...shares)).toMatchObject({ code: 0 });

  const names = ["agent.pub", "kit.html", "papers.tar", "share-1.txt", "share-2.txt", "share-3.txt"];
  expect(readdirSync(home).toSorted()).toEqual(names);
  for (const name of names) {
    const { uid, mode } = statSync(join(home, name));
    expect({ uid, mode: mode & 0o7777 }).toEqual({ uid: 0, mode: 0o600 });
  }
});

it("replaces nothing, and says so", async () => {
  writeFileSync(join(home, "kit.html"), "mine");
  writeFileSync(join(home, "share-2.txt"), "mine");
  const before = readFileSync(join(base, "root/config.yaml"), "utf8");
  const refused = await cli("keys", "recovery-kit", "--output", "kit.html");
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("kit.html already exists") });
  const shares = await cli(
    "keys",
    "recovery-kit",
    "--output",
    "share.txt",
    "--shares",
    "3",
    "--threshold",
    "2",
  );
  expect(shares).toMatchObject({ code: 2, stderr: expect.stringContaining("nothing was replaced") });
  expect(readdirSync(home).toSorted()).toEqual(["kit.html", "share-2.txt"]);
  expect(readFileSync(join(home, "share-2.txt"), "utf8")).toBe("mine");
  // Backups are not encrypted to a kit that nobody has.
  expect(readFileSync(join(base, "root/config.yaml"), "utf8")).toBe(before);
});

it("says who has no access, where a file is to be read or cannot be written", async () => {
  writeFileSync(join(home, "age.key"), "", { mode: 0o600 });
  const unread = await cli("restore", "--source", "papers", "--output", "x", "--identity", "age.key");
  expect(unread).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/EACCES[^]*works as its owner, nobody/),
  });
  expect(readdirSync(home)).toEqual(["age.key"]);
});

it("does not write as root what the owner's configuration names", async () => {
  const config = join(base, "root/config.yaml");
  writeFileSync(config, `${readFileSync(config, "utf8")}defaults: { output: ${home}/chosen.txt }\n`);
  expect(await cli("keys", "export")).toMatchObject({ code: 2, stderr: expect.stringContaining("EACCES") });
  expect(readdirSync(home)).toEqual([]);
});

/** What a root's owner who is an attacker does before it says that the file is whole. */
function asOwner(doing: string): { status: number | null } {
  const script = `
    import { HandOver } from ${JSON.stringify(join(import.meta.dirname, "../src/state/hand-over.ts"))};
    import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
    const handOver = HandOver.begin(${JSON.stringify(join(home, "wanted.txt"))}, { uid: ${OWNER}, gid: ${OWNER} });
    process.setgroups([]);
    process.setgid(${OWNER});
    process.setuid(${OWNER});
    ${doing}
    await handOver.keep();`;
  return spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], { cwd: base });
}

const nobodys = join(tmpdir(), "attestore-nobodys-own");

it.each([
  ["a link to another's file", 'symlinkSync("/etc/passwd", "wanted.txt");'],
  ["a directory", 'mkdirSync("wanted.txt");'],
  ["a file of another name", 'writeFileSync("wanted.txt", ""); writeFileSync("cron.txt", "");'],
  ["a page with another ending", 'writeFileSync("wanted-1.sh", "");'],
  ["nothing", ""],
  ["only a temporary file", 'writeFileSync(".wanted.txt.tmp", "");'],
  [
    "a link to a file of its own",
    `writeFileSync(${JSON.stringify(nobodys)}, ""); symlinkSync(${JSON.stringify(nobodys)}, "wanted.txt");`,
  ],
])("puts nothing into its place if the owner made %s", (_what, doing) => {
  expect(asOwner(doing).status).toBe(1);
  expect(readdirSync(home)).toEqual([]);
  rmSync(nobodys, { force: true });
});

it("the owner cannot write where root asked for the file, and what it made is not left as its own", () => {
  const { status } = asOwner(`
    writeFileSync("wanted.txt", "content", { mode: 0o777 });
    try { writeFileSync("../beside.txt", ""); } catch {}
    try { writeFileSync(${JSON.stringify(join(home, "beside.txt"))}, ""); } catch {}`);
  expect(status).toBe(0);
  expect(readdirSync(home)).toEqual(["wanted.txt"]);
  const { uid, gid, mode } = statSync(join(home, "wanted.txt"));
  expect([uid, gid, mode & 0o7777]).toEqual([0, 0, 0o600]);
});

it("leaves nothing after kill -9", async () => {
  asOwner('writeFileSync("wanted.txt", ""); process.kill(process.pid, "SIGKILL");');
  while (readdirSync(home).length > 0) await pause(5);
  expect(readdirSync(home)).toEqual([]);
});
