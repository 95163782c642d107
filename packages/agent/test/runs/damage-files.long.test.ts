import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { comparedContentText } from "@attestore/proof";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EarlierTests } from "../../src/checks/earlier-tests/earlier-tests.ts";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { MadeBackup } from "../../src/runs/write-encrypted-dump.ts";
import type { RestoreTestResult } from "../../src/runs/restore-and-check.ts";
import { archiveOf } from "../files/archive.ts";
import { failureOnSysfs, PROCFS, SYSFS } from "../files/hold-sysfs.ts";
import { startMappedWriter } from "../files/mapped-writer.ts";
import { dumpTree } from "../files/round-trip.ts";
import { DamageTable, seenForDays } from "./damage-table.ts";
import { backUp, testBackup } from "./back-and-test.ts";
import { flipBit, makeTestPlace, type TestPlace, reseal, type Resealed } from "./scratch.ts";

/** What happens to a tree of files, and what notices it by default: docs/damage.md. */

const table = new DamageTable("files", "Files");
const FILES = 200;
const ACL = "user::rw-\ngroup::r--\nmask::r--\nother::---\n";
let place: TestPlace;
let source: SourceConfigOf<"files">;
let backup: MadeBackup;
let passed: RestoreTestResult;

beforeAll(async () => {
  place = await makeTestPlace();
  const tree = join(place.dir, "tree");
  mkdirSync(join(tree, "letters"), { recursive: true });
  for (let at = 0; at < FILES; at += 1) {
    writeFileSync(join(tree, `scan-${at}.pdf`), Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(600)]));
    writeFileSync(join(tree, "letters", `${at}.txt`), `please leave the parcel ${at}\n`.repeat(20));
  }
  sh(
    tree,
    `ln -s letters soft; ln letters/1.txt hard
     truncate -s 3M sparse; printf x | dd of=sparse bs=1 seek=2000000 conv=notrunc status=none; mkfifo pipe
     touch -d @4000000000 far`,
  );
  withAttributes(tree);
  source = {
    slug: "share",
    engine: "files",
    sandbox: "process",
    checkTimeout_s: 30,
    checks: [],
    path: tree,
  };
  backup = await back();
  passed = await testIt(backup);
});

afterAll(() => place.remove());

function sh(cwd: string, command: string): void {
  execFileSync("sh", ["-euc", command], { cwd, stdio: ["ignore", "ignore", "inherit"] });
}

/** Two files, one with an ACL and one with an extended attribute, or without. */
function withAttributes(tree: string, { acl = ACL, origin = "scanner" } = {}): void {
  const pax = (more: Readonly<Record<string, string>>) => ({ mtime: "1600000000", ...more });
  const archive = archiveOf([
    { name: "./acl", content: "x", pax: pax(acl === "" ? {} : { "SCHILY.acl.access": acl }), mode: 0o640 },
    { name: "./xattr", content: "x", pax: pax(origin === "" ? {} : { "SCHILY.xattr.user.origin": origin }) },
  ]);
  const args = ["-xp", "--acls", "--xattrs", "--xattrs-include=user.*", "-C", tree];
  execFileSync("tar", args, { input: archive, stdio: ["pipe", "ignore", "inherit"] });
}

const back = (path = source.path): Promise<MadeBackup> => backUp(place, { ...source, path });

const testIt = (
  made: MadeBackup,
  instead: Resealed = made,
  seen?: EarlierTests,
): Promise<RestoreTestResult> => testBackup(place, source, made, { instead, seen });

/** A copy of the tree in which a command ran. */
function otherTree(command: string): string {
  const other = join(place.dir, "other");
  rmSync(other, { recursive: true, force: true });
  sh(place.dir, "cp -a --sparse=always tree other");
  sh(other, command);
  return other;
}

async function atSource(change: string | ((tree: string) => void)): Promise<RestoreTestResult> {
  const tree = otherTree(typeof change === "string" ? change : "true");
  if (typeof change === "function") change(tree);
  const made = await back(tree);
  return testIt(made, made, seenForDays(passed));
}

async function onTheWay(change: string | ((tree: string) => void)): Promise<RestoreTestResult> {
  const tree = otherTree(typeof change === "string" ? change : "true");
  if (typeof change === "function") change(tree);
  return testIt(backup, await reseal(place, (await dumpTree(tree)).archive));
}

/** The archive in which a file belongs to another user, or to one that is given by name. */
function withOwner(archive: Buffer, name: string, user: number | string): Buffer {
  const changed = Buffer.from(archive);
  const at = changed.indexOf(`${name}\0`, 0, "latin1");
  const block = changed.subarray(at, at + 512);
  if (typeof user === "string") block.write(user, 265, "latin1");
  else block.write(user.toString(8).padStart(7, "0"), 108, "latin1");
  block.write(" ".repeat(8), 148, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return changed;
}

/** The archive in which a file has a capability. Not everybody who runs this may give it one. */
async function withCapability(): Promise<Buffer> {
  const tree = otherTree("true");
  const args = ["-xp", "--xattrs", "--xattrs-include=user.*", "-C", tree];
  const pax = {
    mtime: "1600000000",
    "SCHILY.xattr.user.origin": "scanner",
    "SCHILY.xattr.user.morecapability": "x",
  };
  execFileSync("tar", args, { input: archiveOf([{ name: "./xattr", content: "x", pax }]) });
  const { archive } = await dumpTree(tree);
  const records = archive
    .toString("latin1")
    .replace("xattr.user.morecapability", "xattr.security.capability");
  return Buffer.from(records, "latin1");
}

const toldIn = ({ profile }: RestoreTestResult) =>
  profile?.suspicious.map(({ column, measure }) => `${column} ${measure}`);

test("files deleted at the source are noticed as the table says", async () => {
  expect(passed.reason).toBeUndefined();
  expect(passed.profile?.suspicious).toEqual([]);
  table.noticed("all files deleted at the source", await atSource("rm -rf ./*"), "inferred:files");
  const half = await atSource("rm scan-*[02468].pdf letters/*[02468].txt");
  table.noticed("half of the files deleted at the source", half, "accept shop .");
  const some = await atSource("rm scan-*5.pdf letters/*5.txt");
  table.noticed("10 % of a steady tree's files deleted at the source", some, "accept shop .");
  expect((await atSource("rm scan-1.pdf letters/2.txt")).reason).toBeUndefined();
});

test("no backup is made of a file whose content its file system calls a hole", async () => {
  expect(await failureOnSysfs(() => back(SYSFS))).toMatchObject({ code: "dump_failed" });
  table.says("a file whose content its file system calls a hole", "no backup is made");
});

test("no backup is made of a file with content that its file system calls empty", async () => {
  expect(await failureOnSysfs(() => back(PROCFS), PROCFS)).toMatchObject({ code: "dump_failed" });
  table.says("a file with content whose size its file system says to be 0", "no backup is made");
});

test("no backup is made with a tar that leaves out a name, and sockets are named", async () => {
  const { PATH } = process.env;
  const programs = join(place.dir, "programs");
  mkdirSync(programs);
  const script = `#!/bin/sh\nPATH=${PATH}\nexec tar --exclude=./hard "$@"\n`;
  writeFileSync(join(programs, "tar"), script, { mode: 0o755 });
  process.env["PATH"] = `${programs}:${PATH}`;
  const dumping = back().finally(() => (process.env["PATH"] = PATH));
  await expect(dumping).rejects.toMatchObject({ code: "dump_failed" });
  table.says("a name that tar leaves out without an error", "no backup is made");
  const tree = otherTree("true");
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(tree, "socket"), resolve));
  const tested = await back(tree)
    .then((made) => testIt(made))
    .finally(() => void server.close());
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toContain("1 socket at the source, which no backup has");
  table.says("a socket at the source", "named as not compared");
});

test("links between the names of a pipe, which tar does not archive, are named", async () => {
  const tree = otherTree("mkfifo fifo one; ln fifo letters/second; ln fifo letters/third");
  const tested = await testIt(await back(tree));
  expect(tested.reason).toBeUndefined();
  expect(comparedContentText(tested.checks)).toContain("links of 3 names of pipes, which no backup has");
  table.says("two names of one pipe at the source", "named as not compared");
});

test("no backup is made of a file that is written to through memory while it is read", async () => {
  const file = join(place.dir, "mapped", "data.mdb");
  mkdirSync(join(place.dir, "mapped"));
  writeFileSync(file, randomBytes(8 << 20));
  const program = await startMappedWriter(file, join(place.dir, "done"));
  let isWritten = false;
  const onPiece = (): void => {
    if (!isWritten) program.write();
    isWritten = true;
  };
  const dumping = dumpTree(join(place.dir, "mapped"), { onPiece }).finally(program.stop);
  await expect(dumping).rejects.toMatchObject({ code: "source_changed" });
  table.says("a file written to through memory (mmap) while it is read", "no backup is made");
});

test("files made worthless at the source: the profile tells, and the test still passes", async () => {
  const overwrite =
    (names: (tree: string) => string[], bytes: (size: number) => Buffer) =>
    (tree: string): void => {
      for (const name of names(tree)) {
        const path = join(tree, name);
        const { size, atime, mtime } = statSync(path);
        writeFileSync(path, bytes(size));
        utimesSync(path, atime, mtime);
      }
    };
  const pdfs = (tree: string): string[] => readdirSync(tree).filter((name) => name.endsWith(".pdf"));
  const cases: [what: string, change: string | ((tree: string) => void), told: string][] = [
    [
      "files zeroed at the source, with size and time kept",
      overwrite(
        (tree) => pdfs(tree).slice(0, 6),
        (size) => Buffer.alloc(size),
      ),
      "documents mismatched",
    ],
    [
      "files encrypted in place at the source",
      overwrite((tree) => pdfs(tree).slice(0, 6), randomBytes),
      "documents random",
    ],
    [
      "all files renamed and random at the source",
      (tree) => {
        overwrite(pdfs, randomBytes)(tree);
        sh(tree, 'for f in *.pdf letters/*.txt; do mv "$f" "$f.x7f3a"; done');
      },
      "names renamed",
    ],
    ["a ransom note at the source", "echo pay >HOW_TO_DECRYPT.txt", "names notes"],
  ];
  for (const [what, change, told] of cases) {
    const tested = await atSource(change);
    expect(tested.reason, what).toBeUndefined();
    expect(toldIn(tested), what).toContain(told);
    table.says(what, "reported as suspicious");
  }
});

test("damage on the way is noticed as the table says", async () => {
  const cases: [what: string, change: string | ((tree: string) => void), names: string][] = [
    ["a file lost on the way", "rm letters/7.txt", "inferred:"],
    ["a file added on the way", "echo >more", "inferred:"],
    [
      "a file zeroed on the way, with size and time kept",
      "t=$(stat -c @%Y scan-7.pdf); s=$(stat -c %s scan-7.pdf); head -c $s /dev/zero >scan-7.pdf; touch -d $t scan-7.pdf",
      "manifest",
    ],
    ["a file renamed on the way", "mv letters/7.txt letters/8a.txt", "manifest"],
    ["a symbolic link changed on the way", "ln -sfn /etc soft", "manifest"],
    ["a hard link made a copy on the way", "rm hard; cp -p letters/1.txt hard", "manifest"],
    ["permissions changed on the way", "chmod 777 letters/7.txt", "manifest"],
    [
      "a byte in the hole of a sparse file on the way",
      "t=$(stat -c @%Y sparse); printf x | dd of=sparse bs=1 seek=9 conv=notrunc status=none; touch -d $t sparse",
      "manifest",
    ],
    ["a pipe made a file on the way", "rm pipe; touch pipe", "manifest"],
  ];
  for (const [what, change, names] of cases) table.noticed(what, await onTheWay(change), names);
  const attributes = await onTheWay((tree) => {
    withAttributes(tree, { acl: "", origin: "" });
    sh(tree, "touch -d @1000000000 letters/7.txt");
  });
  table.noticed("a time changed on the way", attributes, "times");
  table.noticed("an extended attribute lost on the way", attributes, "extended attributes");
  table.noticed("an ACL lost on the way", attributes, "ACLs");
  const { archive } = await dumpTree(otherTree("true"));
  const same = await testIt(backup, await reseal(place, archive));
  expect(same.reason).toBeUndefined();
  const owners = await testIt(backup, await reseal(place, withOwner(archive, "./letters/7.txt", 4711)));
  table.noticed("an owner changed on the way", owners, "owners");
  // Whoever restores by hand may get what no sandbox can set.
  const named = await testIt(backup, await reseal(place, withOwner(archive, "./letters/7.txt", "daemon")));
  expect(named).toMatchObject({ result: "failed", checks: [] });
  table.says("an owner's name added on the way", "refused");
  const capable = await testIt(backup, await reseal(place, await withCapability()));
  table.noticed("a file capability added on the way", capable, "extended attributes outside of user.");
  const far = await onTheWay("touch -d @4000000001 far");
  table.noticed("a time after 2038 changed on the way", far, "times");
});

test("another tree, and bytes that are lost or other", async () => {
  const other = await onTheWay("find . -mindepth 1 -delete; echo other >file");
  table.noticed("another tree's archive in its place", other, "inferred:");
  expect(await testIt(backup, await flipBit(place, backup))).toMatchObject({ result: "failed", checks: [] });
  table.says("a bit flipped in what is stored", "refused");
  const { archive } = await dumpTree(source.path);
  const cut = await reseal(place, archive.subarray(0, archive.length * 0.8));
  expect(await testIt(backup, cut)).toMatchObject({ result: "failed", checks: [] });
  table.says("the end of the archive cut off", "refused");
});

test("an honest day passes: files are added, edited, moved and a few deleted", async () => {
  const tested = await atSource(
    "cp scan-1.pdf scan-new.pdf; echo more >>letters/9.txt; mkdir archive; mv letters/1*.txt archive; rm letters/2.txt; chmod g+w letters; touch scan-3.pdf",
  );
  expect(tested.reason).toBeUndefined();
  expect(tested.profile?.suspicious).toEqual([]);
  table.says("files added, edited, moved and a few deleted", "passes");
  // The same content without its holes is the same file.
  expect(
    (
      await onTheWay(
        "t=$(stat -c @%Y.%N sparse); cp --sparse=never sparse full; cat full >sparse; rm full; touch -r ../tree/sparse sparse; touch -r ../tree .",
      )
    ).reason,
  ).toBeUndefined();
  table.says("the holes of a sparse file written out on the way", "passes");
});

test("every case of the table is here", () => table.everyCaseIsHeld());
