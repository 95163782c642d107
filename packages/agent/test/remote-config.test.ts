/**
 * What a service can do to a host by requests to its config.yaml: an honest one that a person
 * asked, and one that sends what it likes.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { type ConfigAnswer, newId } from "@attestore/contract";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../src/config/config.ts";
import { journalRequest, updateRequest, findRequest } from "../src/journal/config-requests.ts";
import { changeConfig } from "../src/cli/remote-config/change-config.ts";
import { findServers } from "../src/cli/remote-config/servers.ts";
import { tryLock } from "../src/state/lock.ts";
import { type SourceMariadb, startSourceMariadb } from "./runs/source-mariadb.ts";
import { type SourcePostgres, startSourcePostgres } from "./runs/source-postgres.ts";
import { runCli, startCli, type Running } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

const PASSWORD = "a-word-that-stays-here";
const ASKED_BY = newId("user");

let directory: string;
let server: SourcePostgres;
let service: TestService;
let root: TestRoot;
let agents: Running[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "attestore-remote-"));
  server = await startSourcePostgres(directory);
  server.sql(`create role keeper login superuser password '${PASSWORD}';
    create database shop;
    \\c shop
    create table orders (id int primary key, note text, placed_at timestamptz not null);
    insert into orders select n, case when n % 2 = 0 then 'a note' end, now() - n * interval '3 hours' from generate_series(1, 500) n;
    create table "Odd ""Name" (x int);`);
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

const SOURCES = `  # the first one, by Jo
  main: { engine: postgresql, connection: "file:keys/main.url" } # stays
`;

beforeEach(async () => {
  service = await TestService.start();
  service.letsWait = true;
  root = await attachedRoot(service, SOURCES);
  agents = [];
  writeFileSync(join(root.layout.keys, "main.url"), server.url("keeper", PASSWORD), { mode: 0o600 });
  allow(true);
});
afterEach(async () => {
  for (const agent of agents) {
    agent.process.kill("SIGKILL");
    await agent.finished;
  }
  root.remove();
  await service.stop();
});

const configText = (): string => readFileSync(root.layout.config, "utf8");
const LINE = "allow_remote_config: true # agreed on Monday\n";

function allow(isOn: boolean): void {
  writeFileSync(root.layout.config, (isOn ? LINE : "") + configText().replace(LINE, ""));
}

async function startAgent(): Promise<Running> {
  const agent = startCli(["run"], { env: { ATTESTORE_HOME: root.layout.root } });
  agents.push(agent);
  await agent.said("attestore runs as");
  return agent;
}

async function until<T>(what: () => T | undefined | null | false): Promise<T> {
  for (;;) {
    const found = what();
    if (found !== undefined && found !== null && found !== false) return found;
    await pause(20);
  }
}

function send(request: object, more: object = {}): string {
  const id = newId("configRequest");
  service.configRequests.push({ id, asked_by: ASKED_BY, request, ...more });
  return id;
}

const answerTo = (id: string): Promise<ConfigAnswer> => until(() => service.configAnswers.get(id));

type Result<Kind extends string> = Extract<ConfigAnswer, { result: object }>["result"] & { kind: Kind };

async function done<Kind extends string>(kind: Kind, more: object = {}): Promise<[Result<Kind>, string]> {
  const id = send({ kind, ...more });
  const answer = await answerTo(id);
  expect(answer).toMatchObject({ result: { kind } });
  return [(answer as { result: Result<Kind> }).result, id];
}

async function refusal(request: object, more: object = {}): Promise<string> {
  const answer = await answerTo(send(request, more));
  expect(answer).toHaveProperty("refusal");
  const { reason, message } = (answer as { refusal: { reason: string; message: string } }).refusal;
  return `${reason}: ${message}`;
}

const changes = () =>
  service.events.filter(({ event }) => event.kind === "config_changed").map(({ event }) => event.detail);
const SHOP = { place: "source:main", database: "shop" };

it("a host whose config.yaml does not allow requests ignores those of the service, and stores nothing of them", async () => {
  allow(false);
  const before = configText();
  send({ kind: "discover" });
  send({ kind: "try_source", ...SHOP });
  const agent = await startAgent();
  await agent.said("the service sent requests to change config.yaml");
  const beats = service.heartbeats.length;
  await until(() => service.heartbeats.length > beats + 2);
  expect(service.configAnswers.size).toBe(0);
  expect(readdirSync(root.layout.configRequests)).toEqual([]);
  expect(service.heartbeats.every(({ remote_config }) => remote_config === undefined)).toBe(true);
  expect(configText()).toBe(before);
});

it("a request that is not exactly one of the six is refused, and its fields are not read", async () => {
  const before = configText();
  await startAgent();
  const tried = newId("configRequest");
  const check = { kind: "try_check", source: "main", measure: "rows", table: "public.orders", threshold: 1 };
  const forged: [object, object?][] = [
    [{ kind: "run", command: ["id"] }],
    [{ kind: "remove_source", name: "main" }],
    [{ kind: "discover", host: "db.example.org" }],
    [{ kind: "discover" }, { allow_remote_config: true }],
    [{ kind: "discover" }, { asked_by: "root" }],
    [{ kind: "try_source", ...SHOP, connection: "file:/etc/shadow" }],
    [{ kind: "try_source", place: "file:/etc/passwd", database: "x" }],
    ...["sandbox", "limits", "path", "engine", "connection", "may_shrink"].map((field): [object] => [
      { kind: "add_source", tried, name: "x", checks: [], [field]: "x" },
    ]),
    [{ kind: "add_source", tried, name: "../../x", checks: [] }],
    [{ kind: "add_source", tried, name: "x", checks: [{ id: "x", command: ["id"], expect: "ok" }] }],
    [{ ...check, query: "select 1" }],
    [{ ...check, expect: "n > 0" }],
    [{ ...check, table: "x".repeat(301) }],
    [{ kind: "add_check", tried, name: "x", command: ["id"] }],
  ];
  const refusals = await Promise.all(forged.map(([request, more]) => refusal(request, more)));
  for (const told of refusals)
    expect(told).toMatch(/^request_refused: this agent does not know this kind of request/);
  expect(configText()).toBe(before);
  expect(readdirSync(root.layout.keys)).not.toContain("x.url");
});

it("a database that the host reaches already is found, tried and added, and its password stays on the host", async () => {
  await startAgent();
  const [{ servers }] = await done("discover");
  expect(servers).toContainEqual({
    place: "source:main",
    engine: "postgresql",
    label: "the server of main",
    state: "ready",
    databases: [{ name: "postgres", source: "main" }, { name: "shop" }],
  });
  const [{ source }, tried] = await done("try_source", SHOP);
  expect(source).toMatchObject({ engine: "postgresql", tables: 2 });
  expect(source.checks.map(({ id }) => id)).toEqual(["fresh-orders", "has-orders"]);

  const [added] = await done("add_source", { tried, name: "shop", checks: ["has-orders"] });
  expect(added).toEqual({ kind: "add_source", added: "shop", source_id: service.sources.get("shop") });
  expect(configText()).toContain("# agreed on Monday");
  expect(configText()).toContain("# the first one, by Jo");
  expect((parse(configText()) as { sources: object }).sources).toEqual({
    main: { engine: "postgresql", connection: "file:keys/main.url" },
    shop: {
      engine: "postgresql",
      connection: "file:keys/shop.url",
      checks: source.checks.filter(({ id }) => id === "has-orders"),
    },
  });
  expect(statSync(join(root.layout.keys, "shop.url")).mode & 0o777).toBe(0o600);
  await until(() => changes().length > 0);
  expect(changes()).toMatchObject([{ change: "source_added", source: "shop", by: ASKED_BY }]);
  expect(service.events.every(({ envelope }) => envelope !== undefined)).toBe(true);
  expect(service.calls.filter(({ body }) => body.includes(PASSWORD))).toEqual([]);

  const status = await runCli(["status"], { env: { ATTESTORE_HOME: root.layout.root } });
  expect(status.stdout).toContain("The dashboard may add sources and checks");
  expect(status.stdout).toMatch(new RegExp(`source shop was added .* by ${ASKED_BY}`));
});

it("only things that the host offered are added, and nothing existing is replaced", async () => {
  await startAgent();
  const [, tried] = await done("try_source", SHOP);
  const add = { kind: "add_source", tried, name: "shop", checks: [] };
  expect(await refusal({ kind: "try_source", place: "socket:postgresql:1", database: "shop" })).toContain(
    "no server",
  );
  expect(await refusal({ kind: "try_source", ...SHOP, database: "../shop" })).toContain("no such database");
  expect(await refusal({ kind: "try_source", ...SHOP, database: "shop?host=db.example.org" })).toContain(
    "no such",
  );
  expect(await refusal({ ...add, tried: newId("configRequest") })).toContain("does not know the earlier try");
  expect(await refusal({ ...add, checks: ["has-users"] })).toContain("not proposed by this host");
  expect(await refusal({ ...add, name: "main" })).toContain("already a source main");
  writeFileSync(join(root.layout.keys, "shop.url"), "somebody's own");
  expect(await refusal(add)).toContain("exists already");
  expect(readFileSync(join(root.layout.keys, "shop.url"), "utf8")).toBe("somebody's own");
  expect(Object.keys((parse(configText()) as { sources: object }).sources)).toEqual(["main"]);
  expect(changes()).toEqual([]);
});

it("removing the line from config.yaml ends it at once, also for sources and checks that were tried before", async () => {
  await startAgent();
  const [, tried] = await done("try_source", SHOP);
  allow(false);
  // As it was taken while the line was there.
  await journalRequest(root.layout, {
    id: newId("configRequest"),
    asked_by: ASKED_BY,
    request: { kind: "add_source", tried, name: "shop", checks: [] },
  });
  send({ kind: "add_source", tried, name: "shop", checks: [] });
  const beats = service.heartbeats.length;
  await until(() => service.heartbeats.length > beats + 2);
  agents.at(-1)?.process.kill("SIGTERM");
  await agents.at(-1)?.finished;
  await startAgent();
  const [, answer] = await until(() => [...service.configAnswers].find(([id]) => id !== tried));
  expect(answer).toMatchObject({ refusal: { reason: "remote_config_off" } });
  expect(configText()).not.toContain("shop");
});

const command = (...args: string[]) => runCli(args, { env: { ATTESTORE_HOME: root.layout.root } });

it("a command on the host allows requests and ends them, tells the service at once, and keeps comments", async () => {
  const off = await command("remote-config", "off");
  expect([off.code, off.stdout], off.stderr).toEqual([
    0,
    expect.stringContaining("can add nothing on this host"),
  ]);
  expect(configText()).toContain("allow_remote_config: false # agreed on Monday");
  expect(service.heartbeats.at(-1)).not.toHaveProperty("remote_config");
  const shown = await command("remote-config", "--json");
  expect(JSON.parse(shown.stdout)).toEqual({ allow_remote_config: false, remote_config_paths: [] });

  const on = await command("remote-config", "on", "--json");
  expect(JSON.parse(on.stdout)).toMatchObject({ allow_remote_config: true, service_told: true });
  expect(configText()).toContain(LINE);
  expect(configText()).toContain("# the first one, by Jo");
  expect(service.heartbeats.at(-1)).toMatchObject({ remote_config: true });
  expect(await command("remote-config", "maybe")).toMatchObject({ code: 2 });
});

it("a command on the host ends requests while a backup runs, and while the service is not there", async () => {
  const work = tryLock(root.layout, "work", "a backup of some hours");
  await service.stop();
  try {
    const off = await command("remote-config", "off");
    expect([off.code, off.stderr]).toEqual([0, expect.stringContaining("the service does not know yet")]);
    expect(configText()).toContain("allow_remote_config: false");
  } finally {
    work?.release();
  }
});

/** A directory with databases and files, and with what must not be offered. */
function withData(): { readonly data: string; readonly outside: string } {
  const data = join(directory, `data-${newId("user")}`);
  const outside = `${data}-outside`;
  mkdirSync(join(data, "app", "uploads"), { recursive: true });
  mkdirSync(outside);
  for (const path of [join(data, "app", "ledger.db"), join(outside, "secret.db")]) {
    const made = new DatabaseSync(path);
    made.exec(
      "create table entries (id integer primary key, cents int); insert into entries values (1, 5), (2, 7)",
    );
    made.close();
  }
  writeFileSync(join(data, "app", "uploads", "a.txt"), "a");
  writeFileSync(join(data, "app", "notes.db"), "no database");
  symlinkSync(join(outside, "secret.db"), join(data, "link.db"));
  symlinkSync(outside, join(data, "linked"));
  execFileSync("mkfifo", [join(data, "pipe.db")]);
  return { data, outside };
}

async function offeredFiles() {
  const [{ servers }] = await done("discover");
  return servers.filter(({ engine }) => engine === "sqlite" || engine === "files");
}

it("files and SQLite databases are offered only below directories that the host names, are added, and restore", async () => {
  const { data } = withData();
  await startAgent();
  expect(await offeredFiles()).toEqual([]);
  const on = await command("remote-config", "on", data);
  expect([on.code, on.stdout], on.stderr).toEqual([0, expect.stringContaining(`below ${data}.`)]);
  const [sqlite, files] = await offeredFiles();
  expect([sqlite, files]).toMatchObject([
    { engine: "sqlite", label: data, databases: [{ name: "app/ledger.db" }] },
    { engine: "files", label: data, databases: [{ name: "." }, { name: "app" }, { name: "app/uploads" }] },
  ]);
  for (const [name, server, database, checks] of [
    ["ledger", sqlite, "app/ledger.db", ["has-entries"]],
    ["uploads", files, "app/uploads", []],
  ] as const) {
    const [, tried] = await done("try_source", { place: server?.place, database });
    await done("add_source", { tried, name, checks });
    const config = await readConfig(root.layout.config, root.layout.root);
    expect(config.sources.get(name)).toMatchObject({ engine: server?.engine, path: join(data, database) });
    for (const run of ["backup", "restore-test"])
      expect(await command(run, "--source", name)).toMatchObject({ code: 0 });
  }
  expect((await offeredFiles())[0]?.databases).toEqual([{ name: "app/ledger.db", source: "ledger" }]);
});

it("no path outside of the named directories is reached: not by its name, a link, another place, or after the host took it back", async () => {
  const { data, outside } = withData();
  expect(await command("remote-config", "on", data)).toMatchObject({ code: 0 });
  await startAgent();
  const [sqlite, files] = await offeredFiles();
  const place = sqlite?.place;
  for (const database of [
    "../secret.db",
    `../${basename(outside)}/secret.db`,
    join(outside, "secret.db"),
    "link.db",
    "linked/secret.db",
    "pipe.db",
    "app/./ledger.db",
    "app/ledger.db\0",
  ])
    expect(await refusal({ kind: "try_source", place, database }), database).toContain("no such file");
  for (const database of ["..", "linked", "/etc", "app/.."])
    expect(await refusal({ kind: "try_source", place: files?.place, database }), database).toContain(
      "no such file",
    );
  for (const other of ["sqlite:0000000000000000", "files:0000000000000000"])
    expect(await refusal({ kind: "try_source", place: other, database: "." })).toContain("does not allow");

  // After the trial, something else was put in its place.
  const [, tried] = await done("try_source", { place, database: "app/ledger.db" });
  rmSync(join(data, "app", "ledger.db"));
  symlinkSync(join(outside, "secret.db"), join(data, "app", "ledger.db"));
  const add = { kind: "add_source", tried, name: "ledger", checks: [] };
  expect(await refusal(add)).toContain("no such file");
  rmSync(join(data, "app", "ledger.db"));
  copyFileSync(join(outside, "secret.db"), join(data, "app", "ledger.db"));
  writeFileSync(root.layout.config, configText().replace(/^remote_config_paths:.*\n/m, ""));
  expect(await refusal(add)).toContain("does not allow this directory");
  expect(configText()).not.toContain("ledger");

  // Somebody who may write above the directory can put a link in its place.
  expect(await command("remote-config", "on", data)).toMatchObject({ code: 0 });
  rmSync(data, { recursive: true });
  symlinkSync(outside, data);
  expect(await offeredFiles()).toEqual([]);
  expect((await command("remote-config")).stderr).toContain(`${data} leads through a link to ${outside}`);
  rmSync(data);
  expect((await command("remote-config")).stderr).toContain(`${data} is not there`);
});

it("the agent's own root, which has its keys, is neither named nor offered", async () => {
  const above = dirname(root.layout.root);
  for (const path of [root.layout.root, root.layout.keys, "/", "nowhere"])
    expect(await command("remote-config", "on", path), path).toMatchObject({ code: 2 });
  expect(await command("remote-config", "on", above)).toMatchObject({ code: 0 });
  await startAgent();
  const names = (await offeredFiles()).flatMap(({ databases }) => databases.map(({ name }) => name));
  expect(names.filter((name) => name === "." || name.includes(basename(root.layout.root)))).toEqual([]);
});

it("a request is carried out once, however often it comes", async () => {
  await startAgent();
  const [, tried] = await done("try_source", SHOP);
  const request = { kind: "add_source", tried, name: "shop", checks: [] };
  const id = send(request);
  await answerTo(id);
  const after = configText();
  service.configRequests.push({ id, asked_by: ASKED_BY, request: { ...request, name: "again" } });
  const beats = service.heartbeats.length;
  await until(() => service.heartbeats.length > beats + 2);
  expect(configText()).toBe(after);
  await until(() => changes().length === 1);
});

it("an agent that is killed while it adds a source leaves the old config.yaml or the new one, and one event", async () => {
  await startAgent();
  const [, tried] = await done("try_source", SHOP);
  for (const [name, step] of [
    ["at-journal", (id: string) => journalText(id).includes('"adding"')],
    ["at-secret", () => existsSync(join(root.layout.keys, "at-secret.url"))],
    ["at-config", () => configText().includes("at-config:")],
  ] as const) {
    const id = send({ kind: "add_source", tried, name, checks: ["has-orders"] });
    const agent = agents.at(-1);
    await until(() => step(id));
    agent?.process.kill("SIGKILL");
    await agent?.finished;
    await readConfig(root.layout.config, root.layout.root);
    await startAgent();
    expect(await answerTo(id)).toMatchObject({ result: { kind: "add_source", added: name } });
    expect((await readConfig(root.layout.config, root.layout.root)).sources.get(name)?.checks).toHaveLength(
      1,
    );
    await until(() => changes().some(({ source }) => source === name));
    expect(changes().filter(({ source }) => source === name)).toHaveLength(1);
  }
  expect(configText()).toContain("# stays");
});

const journalText = (id: string): string => {
  const path = join(root.layout.configRequests, `${id}.json`);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};

it("a change that an alias would carry to a second place is not made", async () => {
  writeFileSync(
    root.layout.config,
    configText().replace(
      /sources:\n[^]*$/,
      "sources:\n  one: &one { engine: sqlite, path: a.db, checks: &c [] }\n  two: { engine: sqlite, path: b.db, checks: *c }\n",
    ),
  );
  const before = configText();
  const id = newId("configRequest");
  await journalRequest(root.layout, { id });
  const entry = await findRequest(root.layout, id);
  if (entry === null) throw new Error("it was not kept");
  const check = { id: "n", query: "select count(*) as n from t", expect: "n >= 1" };
  await expect(
    changeConfig(root.layout, entry, { kind: "check", source: "one", entry: check }),
  ).rejects.toMatchObject({
    code: "request_refused",
  });
  expect(configText()).toBe(before);
});

it("a request that was carried out is not carried out again, even after the service had it forgotten here", async () => {
  const id = newId("configRequest");
  const takeIt = async () => {
    expect(await journalRequest(root.layout, { id })).toBe(true);
    const entry = await findRequest(root.layout, id);
    if (entry === null) throw new Error("it was not kept");
    return entry;
  };
  const check = (name: string) => {
    const entry = { id: name, query: "select count(*) as n from orders", expect: "n >= 1" };
    return { kind: "check", source: "main", entry } as const;
  };
  const first = await takeIt();
  await changeConfig(root.layout, first, check("one"));
  await updateRequest(root.layout, first, { state: "told" });
  for (let others = 0; others < 200; others++) {
    const other = { id: newId("configRequest") };
    await journalRequest(root.layout, other);
    const entry = await findRequest(root.layout, other.id);
    if (entry !== null) await updateRequest(root.layout, entry, { state: "told" });
  }
  expect(await findRequest(root.layout, id)).toBeNull();

  const before = configText();
  for (const name of ["one", "two"])
    await expect(changeConfig(root.layout, await takeAgain(), check(name))).rejects.toMatchObject({
      code: "request_refused",
    });
  expect(configText()).toBe(before);

  async function takeAgain() {
    return (await findRequest(root.layout, id)) ?? (await takeIt());
  }
});

it("an interrupted change continues only as it was signed", async () => {
  const id = newId("configRequest");
  await journalRequest(root.layout, { id });
  const entry = await findRequest(root.layout, id);
  if (entry === null) throw new Error("it was not kept");
  const check = { id: "n", query: "select count(*) as n from orders", expect: "n >= 1" };
  const before = configText();
  await changeConfig(root.layout, entry, { kind: "check", source: "main", entry: check });
  const after = configText();
  // As kill -9 leaves it after the event.
  writeFileSync(root.layout.config, before);
  const interrupted = await findRequest(root.layout, id);
  if (interrupted === null) throw new Error("it was not kept");
  const other = { ...check, expect: "n >= 2" };
  await expect(
    changeConfig(root.layout, interrupted, { kind: "check", source: "main", entry: other }),
  ).rejects.toMatchObject({ code: "request_refused" });
  expect(configText()).toBe(before);
  await changeConfig(root.layout, interrupted, { kind: "check", source: "main", entry: check });
  expect(configText()).toBe(after);
});

it("a check is measured on a restored backup, and added once it held there and failed on ruined data", async () => {
  await startAgent();
  const [, tried] = await done("try_source", SHOP);
  await done("add_source", { tried, name: "shop", checks: [] });
  const backup = await runCli(["backup", "--source", "shop"], { env: { ATTESTORE_HOME: root.layout.root } });
  expect(backup.code, backup.stderr).toBe(0);
  const [{ tables, is_cut }] = await done("list_columns", { source: "shop" });
  expect([is_cut, tables]).toEqual([
    false,
    [
      { name: 'public."Odd ""Name"', columns: [{ name: "x", kind: "other" }] },
      {
        name: "public.orders",
        columns: [
          { name: "id", kind: "other" },
          { name: "note", kind: "other" },
          { name: "placed_at", kind: "time" },
        ],
      },
    ],
  ]);
  const asked = { source: "shop", table: "public.orders" };
  expect(
    await refusal({
      kind: "try_check",
      ...asked,
      table: "public.orders; drop",
      measure: "rows",
      threshold: 1,
    }),
  ).toContain("no such table");
  expect(
    await refusal({
      kind: "try_check",
      ...asked,
      measure: "distinct",
      column: "note) from orders --",
      threshold: 1,
    }),
  ).toContain("no such column");
  expect(
    await refusal({ kind: "try_check", ...asked, measure: "newest", column: "note", threshold: 1 }),
  ).toContain("no times");

  const [strict, tooStrict] = await done("try_check", {
    ...asked,
    measure: "filled",
    column: "note",
    threshold: 251,
  });
  expect(strict.check).toMatchObject({ held: false, value: 250 });
  expect(await refusal({ kind: "add_check", tried: tooStrict, name: "notes" })).toContain("did not hold");

  const [fresh, id] = await done("try_check", {
    ...asked,
    measure: "newest",
    column: "placed_at",
    threshold: 26,
  });
  expect(fresh.check).toMatchObject({
    query: "select max(placed_at) as newest from public.orders",
    expect: "age(newest) < 26h",
    held: true,
    value: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    noticed: expect.arrayContaining(["an empty public.orders"]),
  });
  await done("add_check", { tried: id, name: "fresh-orders" });
  expect(await refusal({ kind: "add_check", tried: id, name: "fresh-orders" })).toContain(
    "has a check fresh-orders already",
  );
  const config = await readConfig(root.layout.config, root.layout.root);
  expect(config.sources.get("shop")?.checks).toEqual([
    { id: "fresh-orders", query: fresh.check.query, expect: fresh.check.expect },
  ]);

  // As if it had noticed nothing.
  const entry = await findRequest(root.layout, id);
  if (entry === null) throw new Error("it was not kept");
  const check = { ...fresh.check, noticed: [] };
  await updateRequest(root.layout, entry, { answer: { result: { kind: "try_check", check } } });
  expect(await refusal({ kind: "add_check", tried: id, name: "another" })).toContain("it cannot fail");
});

it("a directory where anybody may put a socket is no place for a server", async () => {
  const config = await readConfig(root.layout.config, root.layout.root);
  const open = mkdtempSync(join(tmpdir(), "attestore-sockets-"));
  try {
    const places = async () =>
      (await findServers(config, { postgresql: [open], mariadb: [] })).map(({ place }) => place);
    writeFileSync(join(open, ".s.PGSQL.5433"), "");
    writeFileSync(join(open, ".s.PGSQL.5433.lock"), "");
    expect(await places()).toEqual(["socket:postgresql:5433", "source:main"]);
    const { chmodSync } = await import("node:fs");
    chmodSync(open, 0o1777);
    expect(await places()).toEqual(["source:main"]);
  } finally {
    rmSync(open, { recursive: true });
  }
});

it("a database of a MariaDB or MySQL server is found, added and measured", async () => {
  const base = mkdtempSync(join(tmpdir(), "attestore-remote-db-"));
  let mariadb: SourceMariadb | undefined;
  try {
    mariadb = await startSourceMariadb(base);
    mariadb.sql(`create database ledger; create database wiki;
      create table wiki.pages (id int primary key, changed timestamp not null default now());
      insert into wiki.pages (id) values (1), (2), (3);
      create user 'keeper'@'localhost' identified by '${PASSWORD}';
      grant all on *.* to 'keeper'@'localhost';`);
    writeFileSync(join(root.layout.keys, "main.url"), mariadb.url("keeper", PASSWORD, "ledger"), {
      mode: 0o600,
    });
    writeFileSync(
      root.layout.config,
      configText().replace("engine: postgresql", `engine: ${mariadb.source.engine}`),
    );
    await startAgent();
    const [{ servers }] = await done("discover");
    const { databases } = servers.find(({ place }) => place === "source:main") ?? {};
    expect(databases).toContainEqual({ name: "ledger", source: "main" });
    expect(databases).toContainEqual({ name: "wiki" });
    const [, tried] = await done("try_source", { place: "source:main", database: "wiki" });
    await done("add_source", { tried, name: "wiki", checks: ["has-pages"] });
    const backup = await runCli(["backup", "--source", "wiki"], {
      env: { ATTESTORE_HOME: root.layout.root },
    });
    expect(backup.code, backup.stderr).toBe(0);
    const asked = {
      source: "wiki",
      table: "wiki.pages",
      measure: "newest",
      column: "`changed`",
      threshold: 2,
    };
    const [{ check }] = await done("try_check", asked);
    expect(check).toMatchObject({ held: true, value: expect.stringMatching(/Z$/) });
    expect(service.calls.filter(({ body }) => body.includes(PASSWORD))).toEqual([]);
  } finally {
    await mariadb?.close();
    rmSync(base, { recursive: true });
  }
});
