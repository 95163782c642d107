import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { parseExpectation } from "../checks/index.ts";
import { parseChecks } from "./parse-checks.ts";
import type { EngineSettings } from "./engines/settings.ts";
import { ENGINE_SETTINGS } from "./engines/engine-settings.ts";
import type { SandboxKind } from "./sandbox-config.ts";
import { parseSourceConfig } from "./source-config.ts";

/** The examples of docs/ are what a person copies: each of them has to be taken as it stands. */

const docs = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../../../docs", name), "utf8");
const yamlBlocks = (text: string): unknown[] =>
  Array.from(text.matchAll(/^```yaml\n([^]*?)^```$/gm), ([, block = ""]) => parse(block) as unknown);

test("docs/checks.md: the checks", () => {
  const [example] = yamlBlocks(docs("checks.md")) as [{ checks: unknown[] }];
  const { checks, issues } = parseChecks(example.checks, "checks", "/r");
  expect(issues).toEqual([]);
  expect(checks).toHaveLength(5);
  expect(checks[2]).toMatchObject({ expect: String.raw`version matches '8\.[0-9]+(\.[0-9]+)?'` });
});

test("docs/checks.md: the expressions", () => {
  const [table = ""] = /\| comparisons \|[^]*?\n\n/.exec(docs("checks.md")) ?? [];
  const expressions = Array.from(table.matchAll(/`([^`]+)`/g), ([, text = ""]) => text).filter((text) =>
    /^(?:not |n |age|version|name|newest|status|fresh)/.test(text),
  );
  expect(expressions.length).toBeGreaterThan(9);
  for (const text of expressions) expect(() => parseExpectation(text), text).not.toThrow();
});

test("docs/checks.md: a pattern in YAML", () => {
  const [, line = ""] = /\(`(expect: '.*')`\)/.exec(docs("checks.md")) ?? [];
  const { expect: text } = parse(line) as { expect: string };
  expect(parseExpectation(text)).toMatchObject({ kind: "matches", pattern: String.raw`8\.\d+` });
});

test("docs/sandboxes.md: the sources", () => {
  const [example] = yamlBlocks(docs("sandboxes.md")) as [{ sources: Record<string, unknown> }];
  const sources = Object.entries(example.sources).map(([slug, value]) =>
    parseSourceConfig(slug, value, "/r"),
  );
  expect(sources).toMatchObject([
    { sandbox: { kind: "container", image: null, memory_mb: 2048, storage: "disk" }, rto_s: 3600 },
    {
      sandbox: {
        kind: "container",
        image: "postgis/postgis:{major}-3.5",
        memory_mb: 8192,
        timeLimit_s: 7200,
      },
    },
    { sandbox: { kind: "uri", database: { kind: "env", name: "LEGACY_SCRATCH_URL" } } },
    { sandbox: "process" },
  ]);
});

test("docs/sandboxes.md: the defaults", () => {
  const text = docs("sandboxes.md");
  const { sandbox } = parseSourceConfig(
    "s",
    { engine: "postgresql", connection: "env:X", sandbox: "container" },
    "/r",
  );
  if (typeof sandbox === "string" || sandbox.kind !== "container") throw new TypeError("no container");
  const { memory_mb, cpus, pids, timeLimit_s, storage } = sandbox;
  for (const [field, value] of Object.entries({ memory_mb, cpus, pids, time_limit_s: timeLimit_s, storage }))
    expect(text).toMatch(new RegExp(`^\\| \`${field}\` \\| \`?${value}\`? \\|`, "m"));
});

test.each([
  ["vm", "must be a sandbox that the engine supports: process"],
  [{ kind: "container", memory: 5 }, "not a field of container; its fields are"],
  [{ kind: "container", memory_mb: "2G" }, "must be a whole number from 256"],
  [{ kind: "container", image: "" }, "must be the name of an image"],
  [{ kind: "uri" }, "name the throw-away database"],
  [{ kind: "uri", database: "postgresql://u:secret@h/db" }, "must be env:NAME, file:PATH or credential:NAME"],
])("sandbox %j is refused", (sandbox, message) => {
  const parsed = (): unknown =>
    parseSourceConfig("s", { engine: "postgresql", connection: "env:X", sandbox }, "/r");
  expect(parsed).toThrow(message);
  expect(parsed).not.toThrow("secret@");
});

test.each([
  ["sqlite", { path: "x" }, "container", "process"],
  ["mongodb", { connection: "env:X" }, "container", "process"],
  ["mongodb", { connection: "env:X" }, { kind: "container", image: "mongo:{major}" }, "process"],
  ["mariadb", { connection: "env:X" }, { kind: "uri", database: "env:Y" }, "process, container"],
])("a sandbox that %s does not have is refused", (engine, settings, sandbox, has) => {
  const kind = typeof sandbox === "string" ? sandbox : sandbox.kind;
  expect(() => parseSourceConfig("s", { engine, ...settings, sandbox }, "/r")).toThrow(
    `${engine} has no sandbox ${kind}; it has ${has}`,
  );
});

test("docs/sandboxes.md: which engines have which", () => {
  const rows = docs("sandboxes.md").matchAll(/^\| `(process|container|uri)`.*\| ([^|]+) \|$/gm);
  const documented = Object.fromEntries(Array.from(rows, ([, kind = "", engines]) => [kind, engines]));
  const having = (kind: SandboxKind): string[] =>
    Object.entries<EngineSettings<object>>(ENGINE_SETTINGS)
      .filter(([, settings]) => (settings.sandboxes ?? ["process"]).includes(kind))
      .map(([name]) => `\`${name}\``);
  expect(having("process")).toHaveLength(Object.keys(ENGINE_SETTINGS).length);
  expect(documented).toEqual({
    process: "all",
    container: having("container").join(", "),
    uri: having("uri").join(", "),
  });
});
