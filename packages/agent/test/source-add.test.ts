import {
  existsSync,
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
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { layoutOf } from "../src/state/layout.ts";
import { planConfigEdit } from "../src/config/edit-config.ts";
import { startSourcePostgres, type SourcePostgres } from "./runs/source-postgres.ts";
import { runCli, type CliOptions, type Finished } from "./service/cli.ts";
import { attachedRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";
import { typeInto } from "./terminal/type-into.ts";

let base: string;
let root: string;
let serverDir: string;
let server: SourcePostgres;

beforeAll(async () => {
  serverDir = mkdtempSync(join(tmpdir(), "attestore-add-pg-"));
  server = await startSourcePostgres(serverDir);
  server.sql(`create database shop;
    \\c shop
    create table orders (id int primary key, placed_at timestamptz default now());
    insert into orders (id) select generate_series(1, 500);
    create table "Odd Name" (x int);
    insert into "Odd Name" values (1), (2), (3);
    create table empty (x int);
    create role half login password 'secret-word';
    grant select on orders to half`);
});
afterAll(async () => {
  await server.close();
  rmSync(serverDir, { recursive: true });
});

beforeEach(async () => {
  base = mkdtempSync(join(tmpdir(), "attestore-add-"));
  root = join(base, "root");
  await json(["init", "--standalone"]);
  const text = readFileSync(config(), "utf8");
  writeFileSync(
    config(),
    `# the head, by Jo\n${text}upload: { max_rate: 50MB } # agreed with the network people\n`,
  );
});
afterEach(() => rmSync(base, { recursive: true }));

const config = (): string => join(root, "config.yaml");
const cli = (args: string[], options: CliOptions = {}): Promise<Finished> =>
  runCli(args, { ...options, env: { ATTESTORE_HOME: root, ...options.env }, cwd: base });

async function json<T = Record<string, unknown>>(
  args: string[],
  code = 0,
  options: CliOptions = {},
): Promise<T> {
  const done = await cli([...args, "--json"], options);
  expect(done.code, `${args.join(" ")}\n${done.stdout}${done.stderr}`).toBe(code);
  return JSON.parse(done.stdout) as T;
}

const shopUrl = (user = server.environment["PGUSER"] ?? ""): string =>
  server.url(user, "secret-word", "shop");

it("tries a database, proposes checks that can fail, keeps what people wrote, and what it added works", async () => {
  const before = readFileSync(config(), "utf8");
  const env = { SHOP_URL: shopUrl() };
  const given = ["source", "add", "shop", "--engine", "postgresql", "--connection", "env:SHOP_URL"];
  const undecided = await cli(given, { env });
  expect(undecided.code, undecided.stderr).toBe(2);
  expect(undecided.stderr).toContain("to go ahead, give --yes");
  expect(readFileSync(config(), "utf8")).toBe(before);

  const added = await cli([...given, "--yes"], { env });
  expect(added.code, added.stderr).toBe(0);
  expect(added.stderr).toContain("readable: postgresql");
  expect(added.stderr).toContain("+   shop:");
  expect(added.stderr).not.toContain("secret-word");
  const after = readFileSync(config(), "utf8");
  for (const line of ["# the head, by Jo", "# agreed with the network people"]) expect(after).toContain(line);
  expect(after).toContain("connection: env:SHOP_URL");
  expect(await json(["source", "list"], 0, { env })).toMatchObject({
    sources: [{ source: "shop", checks: ["has-orders", "has-odd-name"] }],
  });
  await json(["backup"], 0, { env });
  expect(await json(["restore-test"], 0, { env })).toMatchObject({ result: "passed" });
  expect(await json(given, 2, { env })).toMatchObject({ message: expect.stringContaining("already") });
  expect(readdirSync(join(root, "scratch"))).toEqual([]);
});

it.each([
  ["a right that is missing", () => shopUrl("half"), "permission denied"],
  ["a server that is not there", () => "postgresql://u:p@localhost:1/x", "cannot be reached"],
])("leaves everything as it was for %s", async (_, url, reason) => {
  const before = readFileSync(config(), "utf8");
  const given = ["source", "add", "shop", "--engine", "postgresql", "--connection", "-", "--yes"];
  const failed = await cli(given, { stdin: `${url()}\n` });
  expect([1, 2]).toContain(failed.code);
  expect(failed.stderr).toContain(reason);
  expect(failed.stderr + failed.stdout).not.toContain("secret-word");
  expect(readFileSync(config(), "utf8")).toBe(before);
  expect(existsSync(join(root, "keys/shop.url"))).toBe(false);
  // Unless told not to look.
  await json([...given, "--no-probe"], 0, { stdin: `${url()}\n` });
  expect(await json(["source", "list"])).toMatchObject({ sources: [{ source: "shop", checks: [] }] });
});

it("source add reads a URL with a password from stdin, into a file of its own", async () => {
  await json(["source", "add", "shop", "--engine", "postgresql", "--connection", "-", "--yes"], 0, {
    stdin: `${shopUrl()}\n`,
  });
  const file = join(root, "keys/shop.url");
  expect(readFileSync(file, "utf8")).toBe(`${shopUrl()}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(config(), "utf8")).toContain("connection: file:keys/shop.url");
  expect(await json(["backup"])).toMatchObject({ source: "shop" });
});

it("source add asks a person on a terminal, and does not show the URL", () => {
  const shown = typeInto(
    [
      ["What do you want to back up?", "postgresql\r"],
      ["What should it be called?", "shop\r"],
      ["URL (not shown", `${shopUrl()}\r`],
      ["Add shop?", "y\r"],
    ],
    ["source", "add"],
    { ATTESTORE_HOME: root },
  );
  expect(shown).toContain("exit 0");
  expect(shown).toContain("proposed check");
  expect(shown).not.toContain("secret-word");
  expect(readFileSync(join(root, "keys/shop.url"), "utf8")).toBe(`${shopUrl()}\n`);

  const before = readFileSync(config(), "utf8");
  mkdirSync(join(base, "papers"));
  const declined = typeInto(
    [
      ["What do you want to back up?", "files\r"],
      ["What should it be called?", "\r"],
      ["Path of the directory", `${join(base, "papers")}\r`],
      ["Add files?", "n\r"],
    ],
    ["source", "add"],
    { ATTESTORE_HOME: root },
  );
  expect(declined).toContain("exit 1");
  expect(readFileSync(config(), "utf8")).toBe(before);
});

it("source add takes files and SQLite and refuses what makes no sense; source remove undoes it", async () => {
  mkdirSync(join(base, "papers"));
  writeFileSync(join(base, "papers/one.txt"), "one\n");
  const database = new DatabaseSync(join(base, "a.db"));
  database.exec("create table t (x integer); insert into t values (1), (2)");
  database.close();
  await json(["source", "add", "papers", "--engine", "files", "--path", join(base, "papers"), "--yes"]);
  const added = await json([
    "source",
    "add",
    "a",
    "--engine",
    "sqlite",
    "--path",
    join(base, "a.db"),
    "--yes",
  ]);
  expect(added).toMatchObject({ checks: [{ id: "has-t", expect: "n >= 1" }], registered: false });
  for (const [args, message] of [
    [["x", "--engine", "postgres"], 'Did you mean "postgresql"?'],
    [["X!", "--engine", "files", "--path", "/srv"], "is not a valid source name"],
    [["x", "--engine", "files", "--path", "/srv", "--connection", "env:A"], "does not apply to files"],
    [["x", "--engine", "postgresql", "--connection", "postgresql://u:p@h/d"], "must not hold a password"],
    [["x", "--engine", "files", "--path", "/none/there", "--yes"], "/none/there"],
    [["x", "--engine", "files"], "--path"],
  ] as const)
    expect(await json(["source", "add", ...args], 2)).toMatchObject({
      message: expect.stringContaining(message),
    });
  await json(["source", "remove", "papers", "--yes"]);
  expect(await json(["source", "list"])).toMatchObject({ sources: [{ source: "a" }] });
});

it("writes nothing if somebody edited config.yaml while the change was shown", async () => {
  const layout = layoutOf(root);
  const edit = await planConfigEdit(layout, (document) =>
    document.setIn(["sources"], document.createNode({ a: { engine: "files", path: "/a" } })),
  );
  writeFileSync(config(), `${readFileSync(config(), "utf8")}# typed meanwhile\n`);
  const edited = readFileSync(config(), "utf8");
  await expect(edit.write()).rejects.toMatchObject({ code: "config_changed" });
  expect(readFileSync(config(), "utf8")).toBe(edited);
});

it("a new source is registered with the service at once, or with the next heartbeat", async () => {
  const service = await TestService.start();
  const attached = await attachedRoot(service);
  try {
    mkdirSync(join(base, "papers"));
    const add = (name: string): string[] => [
      "source",
      "add",
      name,
      "--engine",
      "files",
      "--path",
      join(base, "papers"),
      "--yes",
      "--no-probe",
    ];
    const env = { env: { ATTESTORE_HOME: attached.layout.root } };
    expect(await json(add("papers"), 0, env)).toMatchObject({ registered: true });
    expect([...service.sources.keys()]).toEqual(["papers"]);
    await service.stop();
    expect(await json(add("more"), 0, env)).toMatchObject({ registered: false });
  } finally {
    attached.remove();
    await service.stop();
  }
});
