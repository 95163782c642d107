import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { repositoryCopy, type RepositoryCopy } from "./harness/repository-copy.ts";

let copy: RepositoryCopy;

beforeAll(() => {
  copy = repositoryCopy();
  copy.git("switch", "--quiet", "--create", "work");
  copy.git("config", "core.hooksPath", ".githooks");
});
afterAll(() => copy.remove());
beforeEach(() => {
  copy.git("reset", "--quiet", "--hard", "main");
  copy.git("clean", "--quiet", "--force", "-d");
});

const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|VITEST|NODE_ENV)/.test(name)));

function check(): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync("npm", ["run", "--silent", "check"], {
    cwd: copy.directory,
    env: environment(),
    encoding: "utf8",
  });
  return { status, text: stdout + stderr };
}

function edit(file: string, change: (text: string) => string): void {
  const path = join(copy.directory, file);
  writeFileSync(path, change(readFileSync(path, "utf8")));
}

const HEX = "packages/proof/src/hex.ts";

test("nothing changed, nothing to check", () => {
  const { status, text } = check();
  expect(text).toContain("0 changed files, all is well");
  expect(status).toBe(0);
});

test("format, lint, types, layers and tests of what changed, in the tree or in a commit; the hook runs it", () => {
  edit(HEX, (text) => `${text}\nexport   const wrong = 1;\n`);
  writeFileSync(join(copy.directory, "packages/proof/src/new.ts"), `export const five: string = 5;\n`);
  writeFileSync(
    join(copy.directory, "packages/proof/src/new.test.ts"),
    `import { expect, test } from "vitest";\n\ntest("a new one", () => expect(1 + 1).toBe(3));\n`,
  );
  const { status, text } = check();
  for (const name of ["format", "types", "layers", "tests"]) expect(text).toMatch(`FAILED ${name}`);
  expect(text).toContain("packages/proof/src/new.ts(1,14)");
  expect(text).toContain("expected 2 to be 3");
  expect(status).toBe(1);

  // Committed, it is still a change against main; and a hook that refuses lets nothing in.
  expect(() =>
    execFileSync("git", ["commit", "--quiet", "--all", "--message", "Wrong"], {
      cwd: copy.directory,
      env: environment(),
      stdio: "pipe",
    }),
  ).toThrow(/FAILED types/);
  copy.git("commit", "--quiet", "--no-verify", "--all", "--message", "Wrong");
  expect(check().text).toContain("FAILED format");
});

test("what is well passes, tests that import a changed file among it", () => {
  edit(HEX, (text) => `${text}\n// A word more.\n`);
  const { status, text } = check();
  expect(text).toMatch(/ok {4} format[^]*ok {4} tests/);
  expect(status).toBe(0);
});
