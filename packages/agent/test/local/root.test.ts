import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findProgram } from "../../src/processes/find-program.ts";
import { temporaryDirectory } from "../../src/processes/search-path.ts";
import { runCli } from "../service/cli.ts";
import { ALICE, as, MALLORY, moduleOf, programAs } from "./second-user.ts";

/** A root that looks like one, with a source whose doing would show. */
const CONFIG = `standalone: {}
encryption: { recipients: [age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p] }
sources:
  theirs: { engine: files, path: /etc }
`;

let base: string;
beforeEach(() => {
  base = mkdtempSync("/tmp/roots-");
  chmodSync(base, 0o755);
});
afterEach(() => void execFileSync("rm", ["-rf", base]));

function directoryOf({ uid, gid }: { uid: number; gid: number }, name: string, mode = 0o755): string {
  const path = join(base, name);
  mkdirSync(path);
  chownSync(path, uid, gid);
  chmodSync(path, mode);
  return path;
}

it("a user who may not look into the installed root is told to use sudo", () => {
  const systemRoot = directoryOf({ uid: 0, gid: 0 }, "var", 0o1770);
  const around = JSON.stringify({ env: {}, cwd: "/", uid: ALICE.uid, systemRoot });
  const program = `import { resolveRoot } from ${moduleOf("state/resolve-root.ts")};
    try { resolveRoot(${around}); } catch ({ code, message }) { console.log(code, message); }`;
  expect(programAs(ALICE, program).output).toContain(`root_missing ${systemRoot} may be looked into by root`);
});

it("a user who names another user's root is told whose it is, and how to go on", async () => {
  const root = join(base, "theirs");
  const made = await runCli(["init", "--standalone", "--root", root], { cwd: base });
  expect(made.code, made.stderr).toBe(0);
  execFileSync("chown", ["-R", `${ALICE.uid}:${ALICE.gid}`, root]);
  const around = `{ env: {}, cwd: "/", signal: new AbortController().signal, readSecret: async () => "" }`;
  const program = `import { runProgram } from ${moduleOf("cli/program.ts")};
    process.exitCode = await runProgram(["status", "--root", ${JSON.stringify(root)}], ${around});`;
  const { status, output } = programAs(MALLORY, program);
  expect(output).toContain(`${root} belongs to another user (uid ${ALICE.uid})`);
  expect(output).toContain("as that user, or as root");
  expect(status).toBe(2);
});

describe("a config.yaml that a second user put above the current directory", () => {
  it.each<[string, () => string]>([
    [
      "in a directory of its own",
      () => {
        const path = directoryOf(MALLORY, "theirs");
        as(MALLORY, `cat >config.yaml <<'END'\n${CONFIG}END`, path);
        return path;
      },
    ],
    [
      "in one where everybody may write, as in /tmp",
      () => {
        const path = directoryOf({ uid: 0, gid: 0 }, "tmp", 0o1777);
        as(MALLORY, `cat >config.yaml <<'END'\n${CONFIG}END`, path);
        return path;
      },
    ],
    [
      "as a link to one of ours, in a directory where everybody may write",
      () => {
        writeFileSync(join(base, "ours.yaml"), CONFIG);
        const path = directoryOf({ uid: 0, gid: 0 }, "tmp", 0o1777);
        as(MALLORY, `ln -s ${base}/ours.yaml config.yaml`, path);
        return path;
      },
    ],
  ])("%s is refused, and says how it can be meant", async (_where, plant) => {
    const path = plant();
    const below = join(path, "a");
    mkdirSync(below);
    for (const command of ["status", "doctor", "backup"]) {
      const { code, stderr, stdout } = await runCli([command], { cwd: below, env: { HOME: "/nonexistent" } });
      expect(code).toBe(2);
      expect(stdout + stderr).toContain(`--root ${path}`);
      expect(existsSync(join(path, "keys"))).toBe(false);
    }
  });

  it("is taken where it is root's, the caller's, or the caller's before sudo", async () => {
    const path = directoryOf(ALICE, "alices");
    as(ALICE, `cat >config.yaml <<'END'\n${CONFIG}END`, path);
    const refused = await runCli(["source", "list"], { cwd: path });
    expect(refused.code).toBe(2);
    for (const env of [{ SUDO_UID: String(ALICE.uid) }, { ATTESTORE_HOME: path }]) {
      const { stdout, stderr } = await runCli(["source", "list"], {
        cwd: path,
        env: env as unknown as Record<string, string>,
      });
      expect(stdout + stderr).toContain("theirs");
    }
  });
});

it("TMPDIR is passed to programs only if nobody else can replace their files there", () => {
  const open = directoryOf({ uid: 0, gid: 0 }, "open", 0o777);
  const sticky = directoryOf({ uid: 0, gid: 0 }, "sticky", 0o1777);
  const theirs = directoryOf(MALLORY, "theirs", 0o1777);
  expect(
    [open, sticky, theirs, "relative", join(base, "none")].map((path) => temporaryDirectory(path)),
  ).toEqual([null, sticky, null, null, null]);
});

describe("PATH", () => {
  it.each<[string, () => string]>([
    ["a part that is relative", () => "."],
    ["an empty part, which is the current directory", () => ""],
    ["a directory where everybody may write", () => directoryOf({ uid: 0, gid: 0 }, "open", 0o777)],
    ["a directory of another user's", () => directoryOf(MALLORY, "theirs")],
  ])("lets %s name no program of ours", async (_what, plant) => {
    const part = plant();
    const directory = part === "" || part === "." ? base : part;
    writeFileSync(join(directory, "attestore-program"), "#!/bin/sh\n", { mode: 0o755 });
    const [path, cwd] = [process.env["PATH"], process.cwd()];
    try {
      process.chdir(directory);
      process.env["PATH"] = `${part}:${path}`;
      expect(await findProgram("attestore-program")).toBe(null);
      process.env["PATH"] = `${directoryOf({ uid: 0, gid: 0 }, "good")}:${path}`;
      symlinkSync(join(directory, "attestore-program"), join(base, "good", "attestore-program"));
      expect(await findProgram("attestore-program")).toBe(join(base, "good", "attestore-program"));
    } finally {
      process.env["PATH"] = path;
      process.chdir(cwd);
    }
  });
});
