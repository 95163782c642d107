import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
} from "node:fs";
import { lstatSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { reapLeftovers } from "../../src/sandboxes/leftovers.ts";
import { makeScratchDirectory, makeSocketDirectory } from "../../src/sandboxes/process/scratch-directory.ts";
import { abandonedName, ALICE, as, MALLORY, moduleOf, programAs } from "./second-user.ts";

/** A /tmp of the test's own: its name has to be as short as the real one's. */
let tmp: string;
/** Where plaintext belongs. */
let scratch: string;
let before: string | undefined;

beforeEach(() => {
  before = process.env["TMPDIR"];
  tmp = mkdtempSync("/tmp/a");
  chmodSync(tmp, 0o1777);
  process.env["TMPDIR"] = tmp;
  scratch = join(tmp, "scratch");
  mkdirSync(scratch, { mode: 0o700 });
});
afterEach(() => {
  if (before === undefined) delete process.env["TMPDIR"];
  else process.env["TMPDIR"] = before;
  execFileSync("rm", ["-rf", tmp]);
});

const NAMED = abandonedName();

describe("a second user who makes names in /tmp", () => {
  it("cannot make the agent delete the target of a link", () => {
    const [victim, own] = [join(tmp, "victim"), join(tmp, "own")];
    for (const path of [victim, own]) {
      mkdirSync(path, { mode: 0o700 });
      chownSync(path, ALICE.uid, ALICE.gid);
    }
    as(ALICE, "echo precious >file", victim);
    as(MALLORY, `ln -s ${victim} ${NAMED}`, tmp);
    const reap = `import { reapLeftovers } from ${moduleOf("sandboxes/leftovers.ts")};
      console.log(JSON.stringify(await reapLeftovers(${JSON.stringify(own)})));`;
    programAs(ALICE, reap, { TMPDIR: tmp });
    expect(readFileSync(join(victim, "file"), "utf8")).toBe("precious\n");
  });

  it("can't make root stop somebody else's server by naming its data directory", async () => {
    const data = join(tmp, "server");
    mkdirSync(data);
    chownSync(data, ALICE.uid, ALICE.gid);
    const program = join(tmp, "postgres");
    copyFileSync("/bin/sleep", program);
    chmodSync(program, 0o755);
    const server = spawn(program, ["600"], { cwd: data, uid: ALICE.uid, gid: ALICE.gid });
    await once(server, "spawn");
    try {
      writeFileSync(join(data, "postmaster.pid"), `${server.pid}\n`);
      as(MALLORY, `mkdir ${NAMED}; ln -s ${data} ${NAMED}/data`, tmp);
      await reapLeftovers(scratch);
      expect(server.exitCode ?? server.signalCode).toBe(null);
      // Nor from within, as whoever a restored dump runs programs as.
      mkdirSync(join(scratch, NAMED));
      symlinkSync(data, join(scratch, NAMED, "data"));
      await reapLeftovers(scratch);
      expect(readdirSync(scratch)).toEqual([]);
      expect(server.exitCode ?? server.signalCode).toBe(null);
    } finally {
      server.kill("SIGKILL");
    }
  });

  it("cannot block the agent by taking the names of its directories first", async () => {
    as(MALLORY, `mkdir attestore-0-0 attestore-0-${MALLORY.gid}; ln -s / attestore-0-1`, tmp);
    const sockets = await makeSocketDirectory(null);
    const parent = join(sockets.path, "..");
    expect(lstatSync(parent)).toMatchObject({ uid: 0 });
    expect(lstatSync(parent).mode & 0o7777).toBe(0o700);
    expect(readdirSync(join(tmp, "attestore-0-0"))).toEqual([]);
    await sockets.remove();
    const again = await makeSocketDirectory(null);
    expect(join(again.path, "..")).toBe(parent);
    await again.remove();
  });

  it("can't enter, list or add to what another user's programs work in", async () => {
    const user = { name: "alice", ...ALICE };
    const sockets = await makeSocketDirectory(user);
    for (const attempt of ["ls ..", "ls .", "touch ../x", "touch x"])
      expect(() => as(MALLORY, `cd ${sockets.path} && ${attempt}`)).toThrow();
    as(ALICE, "touch mine", sockets.path);
    expect(() => as(ALICE, "ls ..", sockets.path)).toThrow();
    await sockets.remove();
    expect(existsSync(sockets.path)).toBe(false);
  });

  it("can't have plaintext put where it owns the directory, or may write to it", async () => {
    for (const [name, mode] of [
      ["its-own", 0o755],
      ["open", 0o777],
    ] as const) {
      const path = join(tmp, name);
      mkdirSync(path);
      chmodSync(path, mode);
      if (name === "its-own") chownSync(path, MALLORY.uid, MALLORY.gid);
      await expect(makeScratchDirectory(path, null)).rejects.toMatchObject({ code: "sandbox_failed" });
    }
  });
});

describe("leftovers of a killed run", () => {
  const deep = (parts: number, part: string): string =>
    `import os\nfor _ in range(${parts}):\n os.mkdir("${part}"); os.chdir("${part}")\nopen("plaintext", "w").close()`;

  it.each([
    // As long as tar extracts, and too long for a path from the root.
    ["one path of 4,030 bytes", 15, "d".repeat(255), 190],
    ["paths of 100,000 bytes", 400, "e".repeat(249), 0],
  ])("is removed although it has %s", async (_name, parts, part, last) => {
    mkdirSync(join(scratch, NAMED));
    const more = last === 0 ? "" : `\nos.mkdir("${"f".repeat(last)}")`;
    execFileSync("python3", ["-c", deep(parts, part) + more], { cwd: join(scratch, NAMED) });
    expect(await reapLeftovers(scratch)).toContainEqual({
      kind: "directory",
      name: join(scratch, NAMED),
      problem: null,
    });
    expect(readdirSync(scratch)).toEqual([]);
  });

  it("is a warning where it can't be removed, keeps no run from working, and is removed once it can be", () => {
    const own = join(tmp, "own");
    const inside = join(own, NAMED);
    for (const path of [own, inside, join(inside, "a"), join(inside, "b")]) mkdirSync(path, { mode: 0o700 });
    writeFileSync(join(inside, "a", "file"), "");
    for (const path of [own, inside, join(inside, "b")]) chownSync(path, ALICE.uid, ALICE.gid);
    const reap = `import { reapLeftovers } from ${moduleOf("sandboxes/leftovers.ts")};
      import { makeScratchDirectory } from ${moduleOf("sandboxes/process/scratch-directory.ts")};
      const left = await reapLeftovers(${JSON.stringify(own)});
      await (await makeScratchDirectory(${JSON.stringify(own)}, null)).remove();
      console.log(JSON.stringify(left));`;
    const { status, output } = programAs(ALICE, reap, { TMPDIR: tmp });
    expect(output).toContain("(EPERM)");
    expect(status).toBe(0);
    // All but what is not its own.
    expect(readdirSync(inside)).toEqual(["a"]);
    rmSync(join(inside, "a"), { recursive: true });
    expect(programAs(ALICE, reap, { TMPDIR: tmp })).toMatchObject({ status: 0 });
    expect(readdirSync(own)).toEqual([]);
  });

  it("is removed wherever runs work, not only in the root's scratch directory", async () => {
    const sockets = await makeSocketDirectory(null);
    const left = join(sockets.path, "..", abandonedName(""));
    mkdirSync(left);
    await sockets.remove();
    await reapLeftovers(scratch);
    expect(existsSync(left)).toBe(false);
  });
});
