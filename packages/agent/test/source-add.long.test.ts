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
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { layoutOf } from "../src/state/layout.ts";
import { planConfigEdit } from "../src/config/edit-config.ts";
import { startSourcePostgres, type SourcePostgres } from "./runs/source-postgres.ts";
import { type CliOptions, type Finished, jsonOf, runCli } from "./service/cli.ts";
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

const json = <T = Record<string, unknown>>(args: string[], code = 0, options: CliOptions = {}): Promise<T> =>
  jsonOf<T>(cli([...args, "--json"], options), code);

const shopUrl = (user = server.environment["PGUSER"] ?? ""): string =>
  server.url(user, "secret-word", "shop");

it("source add tries a database, proposes checks that can fail, keeps what people wrote, and its additions work", async () => {
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
  const proven = await cli(["restore-test"], { env });
  expect(proven.code, proven.stderr).toBe(0);
  expect(proven.stdout).toMatch(/^PASSED/m);
  // A person reads the first characters of a digest; the receipt has all of it.
  expect(proven.stdout).toMatch(/inferred:content .*sha256 = '[0-9a-f]{8}…'/);
  expect(proven.stdout).not.toMatch(/[0-9a-f]{64}/);
  expect(await json(given, 2, { env })).toMatchObject({ message: expect.stringContaining("already") });
  expect(readdirSync(join(root, "scratch"))).toEqual([]);
});

it("source add says of a database without tables that no restore test passes yet, and perhaps its name is wrong", async () => {
  server.sql("create database nothing");
  const env = { NOTHING_URL: server.url(server.environment["PGUSER"] ?? "", "secret-word", "nothing") };
  const given = ["source", "add", "nothing", "--engine", "postgresql", "--connection", "env:NOTHING_URL"];
  const added = await cli([...given, "--yes"], { env });
  expect(added.code, added.stderr).toBe(0);
  expect(added.stderr + added.stdout).toContain(
    "there is no table yet, and no restore test passes without data",
  );
});

it("source add proposes a freshness and a ratio that hold, notice ruined data, and pass a restore test", async () => {
  server.sql(`create database busy;
    \\c busy
    create table "Orders" (id int primary key, "Placed at" timestamptz not null, due timestamptz);
    insert into "Orders" select i, now() - i * interval '5 hours', now() + interval '9 days' from generate_series(0, 99) i;
    create table lines (order_id int not null references "Orders", imported timestamp default '2020-01-01');
    insert into lines select i % 100 from generate_series(0, 249) i;
    create table logs (at timestamp);
    create table old (at timestamptz);
    insert into old select now() - interval '90 days' - i * interval '5 hours' from generate_series(0, 99) i;`);
  const env = { BUSY_URL: server.url(server.environment["PGUSER"] ?? "", "", "busy") };
  const given = ["source", "add", "busy", "--engine", "postgresql", "--connection", "env:BUSY_URL", "--yes"];
  const added = await json<{ checks: { id: string; query: string; expect: string }[] }>(given, 0, { env });
  expect(added).toMatchObject({
    checks: [
      {
        id: "fresh-orders",
        query: 'select max("Placed at") as newest from public."Orders"',
        expect: "age(newest) < 3d",
      },
      { id: "ratio-lines-orders", expect: "ratio >= 1.25" },
      { id: "has-lines" },
      { id: "has-orders" },
      { id: "has-old" },
    ],
    canary: { check: { canary: "file:keys/busy.canary" } },
  });
  await json(["backup"], 0, { env });
  const tested = await json<{ result: string; checks: { id: string; negative_control?: object }[] }>(
    ["restore-test"],
    0,
    { env },
  );
  expect(tested.result).toBe("passed");
  for (const { id } of added.checks)
    expect(tested.checks.find((check) => check.id === id)?.negative_control, id).toMatchObject({
      noticed: expect.arrayContaining([expect.stringContaining("an empty ")]),
      not_noticed: [],
    });

  // What nobody can rely on is not proposed, and says why.
  server.sql(`\\c busy
    update "Orders" set "Placed at" = now() + interval '1 year' where id = 7;
    delete from lines where order_id > 5;`);
  const later = ["source", "add", "later", ...given.slice(3)];
  expect(await json(later, 0, { env })).toMatchObject({
    not_proposed: expect.arrayContaining([
      { id: 'the age of public."Orders"."Placed at"', why: "it has times in the future" },
      { id: "the age of public.old.at", why: "rows are no longer written" },
      {
        id: 'public.lines for each of public."Orders"',
        why: "there are too few rows",
      },
    ]),
  });
});

it("a time without a zone is proposed whatever its zone may be, and the offered canary holds", async () => {
  server.sql(`create database zones;
    \\c zones
    create table events (at timestamp);
    insert into events select (now() at time zone 'Pacific/Kiritimati') - i * interval '5 hours' from generate_series(0, 99) i;`);
  const env = { ZONES_URL: server.url(server.environment["PGUSER"] ?? "", "", "zones") };
  const given = [
    "source",
    "add",
    "zones",
    "--engine",
    "postgresql",
    "--connection",
    "env:ZONES_URL",
    "--yes",
  ];
  interface Canary {
    readonly make: string;
    readonly sql: readonly string[];
    readonly check: { readonly id: string; readonly query: string; readonly canary: string };
  }
  const added = await json<{ canary: Canary }>(given, 0, { env });
  expect(added).toMatchObject({
    checks: [{ id: "fresh-events", expect: "age(newest) < 4d" }, { id: "has-events" }],
  });

  execFileSync("sh", ["-c", added.canary.make]);
  const file = join(root, "keys/zones.canary");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const secret = readFileSync(file, "utf8");
  expect(secret).toMatch(/^[0-9a-f]{48}$/);
  expect(JSON.stringify(added)).not.toContain(secret);
  server.sql(`\\c zones\n${added.canary.sql.join("\n").replace(`the text in ${file}`, secret)}`);
  const edit = await planConfigEdit(layoutOf(root), (document) =>
    document.addIn(["sources", "zones", "checks"], document.createNode(added.canary.check)),
  );
  await edit.write();
  await json(["backup"], 0, { env });
  const tested = await json<{ checks: { id: string }[] }>(["restore-test"], 0, { env });
  expect(tested).toMatchObject({ result: "passed" });
  expect(tested.checks.map(({ id }) => id)).toContain("canary");
});

it("source add proposes the same for SQLite, whatever form its times have", async () => {
  const path = join(base, "times.db");
  const database = new DatabaseSync(path);
  const rows =
    "from (with recursive n (i) as (select 0 union all select i + 1 from n where i < 99) select i from n)";
  for (const [made, [limit, part]] of Object.entries({
    "datetime('now', '-' || (i * 5) || ' hours')": ["age(newest) < 4d", "strftime("],
    "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (i * 5) || ' hours')": ["age(newest) < 3d", "strftime("],
    "unixepoch() - i * 18000": ["age(newest) < 3d", 'max("at") as newest'],
    "(unixepoch() - i * 18000) * 1000": ["age(newest) < 3d", 'max("at") / 1000 as newest'],
  })) {
    database.exec(`drop table if exists lines; drop table if exists "the orders";
      create table "the orders" (id integer primary key, at datetime, due datetime);
      insert into "the orders" select i + 1, ${made}, datetime('now', '+9 days') ${rows};
      create table lines (order_id integer not null references "the orders");
      insert into lines select i + 1 ${rows}; insert into lines select i + 1 ${rows}`);
    const given = ["source", "add", "times", "--engine", "sqlite", "--path", path, "--yes"];
    expect(await json(given), made).toMatchObject({
      checks: [
        { id: "fresh-the-orders", expect: limit, query: expect.stringContaining(part ?? "") },
        { id: "ratio-lines-the-orders", expect: "ratio >= 1" },
        { id: "has-lines" },
        { id: "has-the-orders" },
      ],
    });
    await json(["backup", "--source", "times"]);
    const tested = await json<{ checks: { id: string; negative_control?: object }[] }>([
      "restore-test",
      "--source",
      "times",
    ]);
    expect(tested).toMatchObject({ result: "passed" });
    expect(tested.checks.find(({ id }) => id === "fresh-the-orders")?.negative_control).toMatchObject({
      not_noticed: [],
    });
    await json(["source", "remove", "times", "--yes"]);
  }
  database.close();
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

it("source add asks a person on a terminal, again after a typo, and does not show the URL", () => {
  const shown = typeInto(
    [
      ["What do you want to back up?", "postgressql\r"],
      ["What do you want to back up?", "postgresql\r"],
      ["What should it be called?", "My Shop\r"],
      ["What should it be called?", "shop\r"],
      ["URL (not shown", "postgres//nobody\r"],
      ["URL (not shown", `${shopUrl("nobody")}\r`],
      ["URL (not shown", `${shopUrl()}\r`],
      ["Add shop?", "y\r"],
    ],
    ["source", "add"],
    { ATTESTORE_HOME: root },
  );
  expect(shown).toContain("exit 0");
  for (const wrong of [
    'Did you mean "postgresql"?',
    '"My Shop" is not a valid source name',
    "connection: that is not a URL such as postgresql://USER:PASSWORD@HOST/DATABASE",
    'role "nobody" does not exist',
  ])
    expect(shown).toContain(wrong);
  expect(shown).toContain("proposed check");
  expect(shown).not.toContain("secret-word");
  expect(readFileSync(join(root, "keys/shop.url"), "utf8")).toBe(`${shopUrl()}\n`);

  const before = readFileSync(config(), "utf8");
  mkdirSync(join(base, "papers"));
  const declined = typeInto(
    [
      ["What do you want to back up?", "files\r"],
      ["What should it be called?", "\r"],
      ["Path of the directory", `${join(base, "paper")}\r`],
      [`Path of the directory: [${join(base, "paper")}]`, `${join(base, "papers")}\r`],
      ["Add files?", "n\r"],
    ],
    ["source", "add"],
    { ATTESTORE_HOME: root },
  );
  expect(declined).toContain("Nothing was changed.");
  expect(declined).toContain("exit 1");
  const ended = typeInto([["What do you want to back up?", "\x04"]], ["source", "add"], {
    ATTESTORE_HOME: root,
  });
  expect(ended).toContain("exit 2");
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
    [
      ["x", "--engine", "files", "--path", "/none/there", "--yes"],
      "the directory /none/there does not exist: check the source's path",
    ],
    [
      ["x", "--engine", "sqlite", "--path", "/none.db", "--yes"],
      "the SQLite database /none.db does not exist",
    ],
    [["x", "--engine", "dumps", "--path", "/none", "--yes"], "the directory /none does not exist"],
    [["x", "--engine", "dumps", "--path", "/dev/null", "--yes"], "a part of its path is not a directory"],
    [["x", "--engine", "files"], "--path"],
  ] as const)
    expect(await json(["source", "add", ...args], 2)).toMatchObject({
      message: expect.stringContaining(message),
    });
  await json(["source", "remove", "papers", "--yes"]);
  expect(await json(["source", "list"])).toMatchObject({ sources: [{ source: "a" }] });
});

it("source add takes a relative path from where it is called, and writes down the whole path", async () => {
  mkdirSync(join(base, "papers"));
  writeFileSync(join(base, "papers/one.txt"), "one\n");
  await json(["source", "add", "papers", "--engine", "files", "--path", "papers", "--yes"]);
  expect(readFileSync(config(), "utf8")).toContain(`path: ${join(base, "papers")}\n`);
});

it("source add writes nothing if somebody edited config.yaml while the change was shown", async () => {
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
