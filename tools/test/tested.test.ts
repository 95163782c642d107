import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { committedState, isTested, rememberTested } from "./tested.ts";

function directory(): string {
  const made = mkdtempSync(join(tmpdir(), "attestore-tested-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function commit(root: string, text: string): void {
  writeFileSync(join(root, "file"), text);
  const who = ["-c", "user.name=A developer", "-c", "user.email=developer@example.org"];
  execFileSync("git", ["add", "file"], { cwd: root });
  execFileSync("git", [...who, "commit", "--quiet", "--message", text], { cwd: root });
}

test("a commit is tested once all its tests passed, and the next one is not", () => {
  const root = directory();
  execFileSync("git", ["init", "--quiet"], { cwd: root });
  commit(root, "first");
  expect(isTested(root)).toBe(false);
  rememberTested(root, committedState(root));
  expect(isTested(root)).toBe(true);
  commit(root, "second");
  expect(isTested(root)).toBe(false);
});

test("tests with uncommitted changes say nothing of the commit", () => {
  const root = directory();
  execFileSync("git", ["init", "--quiet"], { cwd: root });
  commit(root, "first");
  writeFileSync(join(root, "file"), "changed");
  rememberTested(root, committedState(root));
  expect(isTested(root)).toBe(false);
});

test("a commit or a change that came while tests ran was not tested", () => {
  const root = directory();
  execFileSync("git", ["init", "--quiet"], { cwd: root });
  commit(root, "first");
  const before = committedState(root);
  writeFileSync(join(root, "file"), "changed");
  rememberTested(root, before);
  expect(isTested(root)).toBe(false);
  commit(root, "second");
  rememberTested(root, before);
  expect(isTested(root)).toBe(false);
});

test("tests outside a repository are no error", () => {
  const root = directory();
  rememberTested(root, committedState(root));
  expect(isTested(root)).toBe(false);
});
