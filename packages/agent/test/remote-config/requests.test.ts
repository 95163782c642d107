/**
 * What a service can do to a host by requests to its config.yaml: an honest one that a person
 * asked, and one that sends what it likes.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId } from "@attestore/contract";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { changeConfig } from "../../src/cli/remote-config/change-config.ts";
import { findRequest, journalRequest } from "../../src/journal/config-requests.ts";
import { tryLock } from "../../src/state/lock.ts";
import { until } from "../until.ts";
import {
  agents,
  allow,
  ASKED_BY,
  changes,
  command,
  configText,
  done,
  LINE,
  refusal,
  root,
  send,
  service,
  SHOP,
  startAgent,
  useHostThatAllowsRequests,
} from "./host-that-allows-requests.ts";

useHostThatAllowsRequests();

it("a host whose config.yaml does not allow requests ignores those of the service, and stores nothing of them", async () => {
  allow(false);
  const before = configText();
  send({ kind: "discover" });
  send({ kind: "try_source", ...SHOP });
  const agent = await startAgent();
  await agent.said("the service sent requests to change config.yaml");
  const beats = service.heartbeats.length;
  await until("further heartbeats", () => service.heartbeats.length > beats + 2);
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
  await until("further heartbeats", () => service.heartbeats.length > beats + 2);
  agents.at(-1)?.process.kill("SIGTERM");
  await agents.at(-1)?.finished;
  await startAgent();
  const [, answer] = await until("the answer to the second request", () =>
    [...service.configAnswers].find(([id]) => id !== tried),
  );
  expect(answer).toMatchObject({ refusal: { reason: "remote_config_off" } });
  expect(configText()).not.toContain("shop");
});

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
