import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
/** A small repository with our tools and settings, on a branch of its own. */
let root: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "attestore-check-"));
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  for (const name of [".oxfmtrc.json", ".oxlintrc.json", ".githooks"])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  // What the compiler remembers lies in node_modules, which is not this repository's own.
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8")) as {
    compilerOptions: object;
  };
  const options = { ...compilerOptions, incremental: false, tsBuildInfoFile: null };
  write("tsconfig.json", JSON.stringify({ compilerOptions: options, include: ["packages/*/src"] }));
  const main = join(import.meta.dirname, "main.ts");
  write("package.json", JSON.stringify({ type: "module", scripts: { check: `node ${main} --root .` } }));
  write(".gitignore", "node_modules\n");
  write(
    "vitest.config.ts",
    `export default { test: { projects: [{ test: { name: "unit", include: ["packages/**/*.test.ts", "tools/**/*.test.ts"] } }] } };\n`,
  );
  write("packages/proof/package.json", `{ "name": "@attestore/proof", "type": "module" }\n`);
  write(
    "tools/docs/comment-width.test.ts",
    `import { existsSync } from "node:fs";\nimport { expect, test } from "vitest";\n\ntest("every file", () => expect(existsSync("packages/proof/src/new.ts"), "new.ts has wide comments").toBe(false));\n`,
  );
  write("packages/proof/src/index.ts", `export { two } from "./two.ts";\n`);
  write("packages/proof/src/two.ts", "export const two = 2;\n");
  write(
    "packages/proof/src/uses-two.test.ts",
    `import { expect, test } from "vitest";\nimport { two } from "./two.ts";\n\ntest("two", () => expect(two).toBe(2));\n`,
  );
  write(
    "packages/proof/src/uses-two.long.test.ts",
    `import { test } from "vitest";\nimport { two } from "./two.ts";\n\ntest("takes long", () => {\n  throw new Error(String(two));\n});\n`,
  );
  write(
    "packages/proof/src/other.test.ts",
    `import { test } from "vitest";\n\ntest("never run", () => {\n  throw new Error("why was this run");\n});\n`,
  );
  git("init", "--quiet", "--initial-branch=main");
  git("config", "user.name", "A developer");
  git("config", "user.email", "developer@example.org");
  git("add", "--all");
  git("commit", "--quiet", "--message", "As it was");
  git("switch", "--quiet", "--create", "work");
  git("config", "core.hooksPath", ".githooks");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  git("reset", "--quiet", "--hard", "main");
  git("clean", "--quiet", "--force", "-d");
});

const environment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|VITEST|NODE_ENV|GIT_)/.test(name)),
  );

function git(...args: string[]): void {
  execFileSync("git", args, { cwd: root, env: environment(), stdio: "pipe" });
}

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

function check(): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync("npm", ["run", "--silent", "check"], {
    cwd: root,
    env: environment(),
    encoding: "utf8",
  });
  return { status, text: stdout + stderr };
}

test("npm run check has nothing to do when nothing changed", () => {
  expect(check()).toMatchObject({
    status: 0,
    text: expect.stringContaining("0 changed files, all checks passed") as string,
  });
});

test("npm run check passes correct code, and runs only the tests that import a changed file", () => {
  write("packages/proof/src/two.ts", "/** One and one. */\nexport const two = 2;\n");
  const { status, text } = check();
  for (const name of ["format", "lint", "types", "layers", "tests"]) expect(text).toContain(`ok     ${name}`);
  expect(text).toContain("not run: packages/proof/src/uses-two.long.test.ts");
  expect(status).toBe(0);
});

test("npm run check looks at changed and new files, even committed ones, and the hook refuses faults", () => {
  write("packages/proof/src/two.ts", `export   var two: string = 3;\nimport "vitest";\n`);
  write("packages/proof/src/new.ts", "export const alone = 1;\n");
  const { status, text } = check();
  for (const name of ["format", "lint", "types", "layers", "tests"]) expect(text).toContain(`FAILED ${name}`);
  expect(text).toContain("expected 3 to be 2");
  expect(text).toContain("packages/proof/src/new.ts");
  expect(text).toContain("new.ts has wide comments");
  expect(status).toBe(1);
  expect(() => git("commit", "--quiet", "--all", "--message", "Wrong")).toThrow(/Command failed/);
  git("commit", "--quiet", "--no-verify", "--all", "--message", "Wrong");
  expect(check()).toMatchObject({ status: 1, text: expect.stringContaining("FAILED types") as string });
});
