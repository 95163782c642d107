import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { versionsIn } from "../../tools/release/set-version.ts";
import { TESTED } from "../../tools/test/tested.ts";
import { repositoryCopy, type RepositoryCopy } from "../e2e/harness/repository-copy.ts";

/** A project whose release key we have. */
let copy: RepositoryCopy;
const directory = mkdtempSync(join(tmpdir(), "attestore-release-"));
const key = join(directory, "release.key");
const VERSION = "97.0.1";

beforeAll(() => {
  copy = repositoryCopy();
  execFileSync("minisign", ["-G", "-W", "-p", `${key}.pub`, "-s", key]);
});
afterAll(() => {
  copy.remove();
  rmSync(directory, { recursive: true, force: true });
});

function release(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync("npm", ["run", "--silent", "release", "--", ...args], {
    cwd: copy.directory,
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|VITEST)/.test(name))),
    encoding: "utf8",
  });
}

function write(file: string, change: (text: string) => string): void {
  const path = join(copy.directory, file);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

test("nothing is made without a key, or before the project has one", () => {
  const head = copy.git("rev-parse", "HEAD");
  const without = release(VERSION);
  expect(without).toMatchObject({ status: 2, stdout: "" });
  expect(without.stderr).toContain("--minisign-key FILE");
  write("packages/contract/src/release-key.ts", (text) => text.replace(/= (null|"RW[^"]*");/, "= null;"));
  const early = release(VERSION, "--minisign-key", key);
  expect(early.status).toBe(2);
  expect(early.stderr).toContain("has no release key yet");
  expect(copy.git("rev-parse", "HEAD")).toBe(head);
  expect(existsSync(join(copy.directory, "dist"))).toBe(false);
});

test("one command makes version, changelog, artefacts, checksums, signature and notes", () => {
  const [, publicKey = ""] = readFileSync(`${key}.pub`, "utf8").split("\n");
  write("packages/contract/src/release-key.ts", (text) =>
    text.replace(/= (null|"RW[^"]*");/, `= "${publicKey}";`),
  );
  write("CHANGELOG.md", (text) =>
    text.replace("## Unreleased\n", "## Unreleased\n\n### News\n\n- The very newest thing.\n"),
  );
  copy.git("commit", "--quiet", "--all", "--message", "What a release needs");
  const head = copy.git("rev-parse", "HEAD");
  const untested = release(VERSION, "--minisign-key", key, "--arch", "amd64", "--fast");
  expect(untested.status).toBe(2);
  expect(untested.stderr).toContain("npm run test:all");
  expect(copy.git("rev-parse", "HEAD")).toBe(head);
  copy.git("update-ref", TESTED, "HEAD");

  const made = release(VERSION, "--minisign-key", key, "--arch", "amd64", "--fast");
  expect(made.stderr).not.toContain("No release");
  expect(made.status).toBe(0);

  expect(versionsIn(copy.directory)).toEqual([VERSION]);
  expect(readFileSync(join(copy.directory, "CHANGELOG.md"), "utf8")).toMatch(
    /## Unreleased\n\n## 97\.0\.1 - \d{4}-\d\d-\d\d\n\n### News\n\n- The very newest thing\./,
  );
  expect(copy.git("status", "--porcelain")).toBe("");
  expect(copy.git("rev-parse", `v${VERSION}^{commit}`)).toBe(copy.git("rev-parse", "HEAD"));

  const out = join(copy.directory, "dist");
  const sums = readFileSync(join(out, "SHA256SUMS"), "utf8");
  for (const name of [
    "attestore-linux-amd64",
    `attestore_${VERSION}_amd64.deb`,
    `attestore-proof-${VERSION}.tgz`,
    `attestore-verify-${VERSION}.tgz`,
    "install.sh",
    "NOTES.md",
  ])
    expect(sums).toContain(`  ${name}\n`);
  execFileSync("sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], { cwd: out });
  const unsigned = readdirSync(out).filter((name) => !sums.includes(`  ${name}\n`));
  expect(unsigned.toSorted()).toEqual(["SHA256SUMS", "SHA256SUMS.minisig", "minisign.pub"]);
  const verified = execFileSync("minisign", ["-V", "-Q", "-P", publicKey, "-m", join(out, "SHA256SUMS")], {
    encoding: "utf8",
  });
  expect(verified.trim()).toBe(`attestore ${VERSION}`);
  expect(readFileSync(join(out, "install.sh"), "utf8")).toContain(publicKey);
  expect(readFileSync(join(out, "NOTES.md"), "utf8")).toContain("- The very newest thing.");
  const { stdout } = spawnSync(join(out, "attestore-linux-amd64"), ["--version"], { encoding: "utf8" });
  expect(stdout).toContain(VERSION);
});

test("a release whose build fails leaves the branch as it was", () => {
  const before = copy.git("rev-parse", "HEAD");
  write("CHANGELOG.md", (text) => text.replace("## Unreleased\n", "## Unreleased\n\n- One more.\n"));
  write("packages/proof/src/index.ts", (text) => `${text}\nexport const wrong: string = 1;\n`);
  copy.git("commit", "--quiet", "--all", "--message", "What does not compile");
  const broken = copy.git("rev-parse", "HEAD");
  copy.git("update-ref", TESTED, "HEAD");
  const made = release("98.0.0", "--minisign-key", key, "--arch", "amd64", "--fast");
  expect(made.status).not.toBe(0);
  expect(made.stderr).toContain("do not compile");
  expect(broken).not.toBe(before);
  expect(copy.git("rev-parse", "HEAD")).toBe(broken);
  expect(versionsIn(copy.directory)).toEqual([VERSION]);
  expect(copy.git("tag", "--list", "v98.0.0")).toBe("");
});
