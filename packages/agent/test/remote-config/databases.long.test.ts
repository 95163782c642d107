import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { findServers } from "../../src/cli/remote-config/servers.ts";
import { readConfig } from "../../src/config/config.ts";
import { findRequest, updateRequest } from "../../src/journal/config-requests.ts";
import { type SourceMariadb, startSourceMariadb } from "../runs/source-mariadb.ts";
import { runCli } from "../service/cli.ts";
import { until } from "../until.ts";
import {
  ASKED_BY,
  changes,
  configText,
  done,
  PASSWORD,
  refusal,
  root,
  service,
  SHOP,
  startAgent,
  useHostThatAllowsRequests,
} from "./host-that-allows-requests.ts";

useHostThatAllowsRequests();

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
  await until("a change is reported", () => changes().length > 0);
  expect(changes()).toMatchObject([{ change: "source_added", source: "shop", by: ASKED_BY }]);
  expect(service.events.every(({ envelope }) => envelope !== undefined)).toBe(true);
  expect(service.calls.filter(({ body }) => body.includes(PASSWORD))).toEqual([]);

  const status = await runCli(["status"], { env: { ATTESTORE_HOME: root.layout.root } });
  expect(status.stdout).toContain("The dashboard may add sources and checks");
  expect(status.stdout).toMatch(new RegExp(`source shop was added .* by ${ASKED_BY}`));
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
