import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

/** A repository that keeps every rule, into which each test puts what breaks one. */
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "attestore-layers-"));
  for (const name of ["proof", "contract", "host", "orchestrator", "agent", "verifier", "dashboard"])
    write(
      `packages/${name}/package.json`,
      JSON.stringify({
        name: `@attestore/${name}`,
        exports: name === "host" ? { "./*": "./src/*.ts" } : { ".": "./src/index.ts" },
        imports: { "#sha256": { node: "./src/node.ts" } },
      }),
    );
  write("packages/proof/src/index.ts", "export const one = 1;");
  write("packages/contract/src/index.ts", `export { one } from "@attestore/proof";`);
  write("packages/verifier/src/main.ts", "");
  write("packages/host/src/files/lock.ts", "");
  write(
    "packages/agent/src/main.ts",
    `import { one } from "@attestore/contract";
     import { open } from "./state/open.ts";
     import "@attestore/host/files/lock";
     import type { Key } from "./errors/key.ts";
     export const key: Key = open(one);`,
  );
  write("packages/agent/src/errors/key.ts", "export type Key = number;");
  write(
    "packages/agent/src/state/open.ts",
    `import type { Key } from "../errors/key.ts"; export const open = (key: Key): Key => key;`,
  );
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function run(program: "main" | "draw", ...args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, `${program}.ts`), "--root", root, ...args],
    { encoding: "utf8" },
  );
  return { status, text: stdout + stderr };
}

const CIRCLE = "packages/agent/src: errors/ state/";

test("a tree that keeps the rules is accepted", () => {
  expect(run("main")).toEqual({ status: 0, text: expect.stringContaining("import one way") as string });
});

test.each([
  ["a value", `import { open } from "../state/open.ts"; export type Key = number; export const k = open;`],
  ["a type", `import type { open } from "../state/open.ts"; export type Key = Parameters<typeof open>[0];`],
  ["a type in passing", `export type Key = import("../state/open.ts").Other;`],
  ["a lazy import", `export type Key = number; export const later = () => import("../state/open.ts");`],
  ["what it exports again", `export type Key = number; export * from "../state/open.ts";`],
  [
    "a program of its own",
    `export type Key = number; export const url = new URL("../state/open.ts", import.meta.url);`,
  ],
])("a new circle of folders through %s is refused", (_, text) => {
  write("packages/agent/src/errors/key.ts", text);
  const { status, text: said } = run("main");
  expect(status).toBe(1);
  expect(said).toContain(CIRCLE);
});

test.each([
  ["packages/proof/src/index.ts", `import "@attestore/contract";`],
  ["packages/contract/src/index.ts", `import "@attestore/agent";`],
  ["packages/verifier/src/main.ts", `import "@attestore/host/files/lock";`],
  ["packages/host/src/files/lock.ts", `import "@attestore/proof";`],
  ["packages/agent/src/main.ts", `import type {} from "../../orchestrator/src/index.ts";`],
  ["packages/agent/src/main.ts", `import "../test/helper.ts";`],
  ["packages/agent/src/main.ts", `import "./errors/key.test.ts";`],
  ["packages/agent/src/main.ts", `import "../../../tools/setup.ts";`],
  ["packages/agent/src/errors/key.test.ts", `import "../../../verifier/src/main.ts";`],
])("%s may not have the line %s", (file, text) => {
  for (const path of [
    "packages/agent/src/index.ts",
    "packages/orchestrator/src/index.ts",
    "packages/agent/test/helper.ts",
    "packages/agent/src/errors/key.test.ts",
    "tools/setup.ts",
  ])
    write(path, "");
  expect(run("main").status).toBe(0);
  write(file, text);
  const { status, text: said } = run("main");
  expect(status).toBe(1);
  expect(said).toContain(`${file} imports `);
});

test.each([
  ["a higher folder", "packages/agent/src/errors/key.ts", "packages/agent/src/cli/print.ts"],
  [
    "a folder without a place in the order",
    "packages/agent/src/state/open.ts",
    "packages/agent/src/new/a.ts",
  ],
  [
    "HTTP in the log",
    "packages/orchestrator/src/log/leaf.ts",
    "packages/orchestrator/src/platform/http/route.ts",
  ],
])("an import of %s is refused", (_, file, imported) => {
  write(imported, "export const a = 1;");
  write("packages/orchestrator/src/main.ts", `import "./log/leaf.ts"; import "./platform/http/route.ts";`);
  write("packages/orchestrator/src/platform/http/route.ts", "export const a = 1;");
  write("packages/orchestrator/src/log/leaf.ts", "export const leaf = 1;");
  write(
    file,
    `import { a } from "${relative(dirname(file), imported)}"; export const key = a; export type Key = number; export const open = (k: Key) => k;`,
  );
  const { status, text } = run("main");
  expect(status).toBe(1);
  expect(text).toContain(`${file} imports ${imported}`);
});

test("code that only tests use is refused in src", () => {
  write("packages/agent/src/errors/made-up-key.ts", "");
  write("packages/agent/src/errors/key.test.ts", `import "./made-up-key.ts"; import "../../test/helper.ts";`);
  write("packages/agent/test/helper.ts", "");
  expect(run("main")).toMatchObject({
    status: 1,
    text: expect.stringContaining("packages/agent/src/errors/made-up-key.ts") as string,
  });
});

test("an npm package that package.json does not declare is refused", () => {
  write("packages/agent/src/errors/key.ts", `export type Key = import("yaml").Document;`);
  expect(run("main")).toMatchObject({
    status: 1,
    text: expect.stringContaining("packages/agent imports yaml") as string,
  });
});

test("an import that leads nowhere is an error", () => {
  write("packages/agent/src/errors/key.ts", `export type Key = import("./gone.ts").Key;`);
  expect(run("main")).toMatchObject({
    status: 1,
    text: expect.stringContaining("packages/agent/src/errors/gone.ts does not exist") as string,
  });
});

test("the graph shows packages and folders, with circles as dotted arrows", () => {
  expect(run("draw", "packages").text).toMatch(/n\d\["agent\/"\][^]*n\d -- 1 --> n\d/);
  write("packages/agent/src/errors/key.ts", `export type Key = import("../state/open.ts").Other;`);
  const { text } = run("draw", "packages/agent/src");
  expect(text).toContain('n0["errors/"]\n  n1["main.ts"]\n  n2["state/"]');
  expect(text).toContain("n2 -. 1 .-> n0");
  expect(text).toContain("n1 -- 1 --> n2");
});
