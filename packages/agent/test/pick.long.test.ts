import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { newId } from "@attestore/contract";
import { parseBundle, verifyReceipt, type RestoreTestPredicate } from "@attestore/proof";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { AgentStatus } from "../src/cli/status/agent-status.ts";
import { runCli, startCli } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { failure, TestService } from "./service/test-service.ts";

let service: TestService;
let root: TestRoot;

beforeEach(async () => {
  service = await TestService.start();
  root = await attachedRoot(service, "  invoices: { engine: sqlite, path: invoices.db }\n");
  const database = new DatabaseSync(join(root.layout.root, "invoices.db"));
  database.exec("create table invoices (id integer primary key); insert into invoices values (1), (2)");
  database.close();
});
afterEach(async () => {
  root.remove();
  await service.stop();
});

const cli = (...args: string[]) => runCli(args, { env: { ATTESTORE_HOME: root.layout.root } });

function pickBy(pick: string): void {
  const { config } = root.layout;
  const text = readFileSync(config, "utf8").replace(/, restore_test: \{[^}]*\}/, "");
  writeFileSync(config, text.replace("invoices.db }", `invoices.db, restore_test: { pick: ${pick} } }`));
}

async function backUp(count: number): Promise<string[]> {
  for (let i = 0; i < count; i++) {
    const made = await cli("backup");
    expect(made.code, made.stderr).toBe(0);
  }
  return [...service.backups.keys()].toSorted();
}

/** What `restore-test` says of each backup that it tested. */
async function testedBy(code: number, ...args: string[]): Promise<{ backup_id: string; drawn: boolean }[]> {
  const done = await cli("restore-test", "--json", ...args);
  expect(done.code, done.stdout + done.stderr).toBe(code);
  return done.stdout
    .split("\n")
    .filter((line) => line.includes('"backup_id"'))
    .map((line) => JSON.parse(line) as { backup_id: string; drawn: boolean });
}

async function statusOf() {
  return JSON.parse((await cli("status", "--json")).stdout) as AgentStatus;
}

const draws = () => service.events.filter(({ event }) => event.kind === "draw_declared");

/** The newest receipt in the log, with what a verifier makes of it. */
async function newestReceipt() {
  const name = readdirSync(root.layout.receipts)
    .filter((each) => each.endsWith("restore-test.json"))
    .toSorted()
    .at(-1);
  const bundle = parseBundle(readFileSync(join(root.layout.receipts, name ?? ""), "utf8"));
  const { verdict, statement, checks } = await verifyReceipt({
    bundle,
    publicKey: root.attachment.key.publicKey,
    logKey: service.log.verifier,
  });
  const predicate = statement?.predicate as RestoreTestPredicate;
  return { verdict, predicate, draw: checks.find(({ id }) => id === "draw") };
}

it("tests the oldest backup, and before it the newest, unless that has passed", async () => {
  pickBy("oldest");
  const [oldest = "", , newest = ""] = await backUp(3);
  expect((await testedBy(0)).map(({ backup_id }) => backup_id)).toEqual([newest, oldest]);
  expect((await testedBy(0)).map(({ backup_id }) => backup_id)).toEqual([oldest]);
  const [, , , newer = ""] = await backUp(1);
  expect((await testedBy(0)).map(({ backup_id }) => backup_id)).toEqual([newer, oldest]);
  expect((await testedBy(0, "--backup", newest)).map(({ backup_id }) => backup_id)).toEqual([newest]);
  expect(draws()).toEqual([]);
});

it("the agent draws one of all backups, which the receipt proves, also with a service that answers late", async () => {
  pickBy("random");
  const ids = await backUp(4);
  for (const others of [0, 3]) {
    service.others = others;
    const tested = await testedBy(0);
    expect(tested.at(-1)?.drawn).toBe(true);
    const { verdict, predicate, draw } = await newestReceipt();
    expect([verdict, draw?.result]).toEqual(["true", "held"]);
    expect(predicate.backup_id).toBe(tested.at(-1)?.backup_id);
    expect(draw?.detail).toContain(`${predicate.backup_id}, one of 4;`);
  }
  const declared = draws();
  expect(declared).toHaveLength(2);
  for (const { event, envelope } of declared) {
    expect(envelope).toBeDefined();
    expect(event.source_id).toBe(service.sourceId("invoices"));
    expect(event.detail).toMatchObject({ v: 1, candidates: ids });
  }
  expect(new Set(declared.map(({ event }) => event.detail["commitment"])).size).toBe(2);
});

it("the agent continues with a draw that has no result, however often, and draws again only afterwards", async () => {
  pickBy("random");
  await backUp(3);
  await testedBy(0, "--backup", [...service.backups.keys()].toSorted().at(-1) ?? "");
  service.interfere = ({ route }) =>
    route.startsWith("GET /objects/") ? { status: 403, body: "<Error/>" } : undefined;
  for (let i = 0; i < 3; i++) await testedBy(2);
  expect(draws()).toHaveLength(1);
  const failed = service.events.filter(({ event }) => event.kind === "restore_failed");
  const drawn = new Set(failed.map(({ event }) => event.backup_id));
  expect([failed.length, drawn.size]).toEqual([3, 1]);
  const open = await statusOf();
  expect(open.sources[0]?.open_draw?.backup_id).toBe([...drawn][0]);
  expect(open.advice.map(({ what }) => what).join()).toContain("its restore test has no result");
  service.interfere = () => undefined;
  expect(await testedBy(0)).toMatchObject([{ backup_id: [...drawn][0], drawn: true }]);
  expect(draws()).toHaveLength(1);
  await testedBy(0);
  expect(draws()).toHaveLength(2);
  const [source] = (await statusOf()).sources;
  expect(source).toMatchObject({ open_draw: null, last_test: { drawn: true } });
  expect(source?.coverage).toMatchObject({ kept: 3, draws: { in_90_days: 180, each_probability: 1 } });
});

it.each([
  ["that has its receipt, after a crash before the end of the run", (): object => ({})],
  [
    "of another agent, which this root was attached as before",
    (): object => ({ id: newId("event"), actor_id: newId("agent") }),
  ],
])("does not go on with a draw %s", async (_, other) => {
  pickBy("random");
  await backUp(2);
  await testedBy(0);
  const { predicate } = await newestReceipt();
  const { draw = expect.unreachable() } = predicate;
  const left = { ...draw, leaf: { ...draw.leaf, ...other() } };
  const open = {
    v: 1,
    event: "evt_x",
    secret: draw.secret,
    declared_at: predicate.started_at,
    decided: { backup_id: predicate.backup_id, draw: left },
  };
  writeFileSync(join(root.layout.draws, `${service.sourceId("invoices")}.json`), JSON.stringify(open));
  await testedBy(0);
  expect(draws()).toHaveLength(2);
  expect(draws()[1]?.event.detail["replaces"]).toBeUndefined();
  const newest = await newestReceipt();
  expect([newest.verdict, newest.predicate.draw?.leaf.id]).toEqual(["true", draws()[1]?.eventId]);
});

it("a draw of a removed backup is replaced by one that says so", async () => {
  pickBy("random");
  await backUp(3);
  await testedBy(0, "--backup", [...service.backups.keys()].toSorted().at(-1) ?? "");
  service.interfere = ({ route }) =>
    route.startsWith("GET /objects/") ? { status: 403, body: "<Error/>" } : undefined;
  await testedBy(2);
  const gone = String(service.events.find(({ event }) => event.kind === "restore_failed")?.event.backup_id);
  service.backups.delete(gone);
  service.interfere = () => undefined;
  const tested = await testedBy(0);
  expect(tested.every(({ backup_id }) => backup_id !== gone)).toBe(true);
  const [first, second] = draws();
  expect(second?.event.detail["replaces"]).toMatchObject({ event_id: first?.eventId, backup_id: gone });
  expect((await newestReceipt()).verdict).toBe("true");
});

it("without the log's answer nothing is drawn, and the same declaration is sent again", async () => {
  pickBy("random");
  await backUp(2);
  await testedBy(0, "--backup", [...service.backups.keys()].toSorted().at(-1) ?? "");
  service.interfere = ({ route }) =>
    route === "POST /v1/events" ? failure(503, "unavailable", "away") : undefined;
  const done = await cli("restore-test");
  expect([done.code, done.stderr]).toEqual([2, expect.stringContaining("is not in the log yet")]);
  service.interfere = () => undefined;
  await testedBy(0);
  expect(draws()).toHaveLength(1);
});

it("with a service that is too old, the newest backup is tested, and the run says why", async () => {
  pickBy("random");
  const ids = await backUp(2);
  service.interfere = ({ route }) =>
    route.startsWith("GET /v1/sources/") ? failure(404, "not_found", "no such route") : undefined;
  expect((await testedBy(2)).map(({ backup_id }) => backup_id)).toEqual([ids[1]]);
  expect(service.events.at(-1)?.event).toMatchObject({
    kind: "restore_failed",
    detail: { reason: "draw_unavailable" },
  });
});

it("a command of the schedule, which names the newest backup, also tests the drawn one", async () => {
  pickBy("random");
  const [oldest = "", newest = ""] = await backUp(2);
  const agent = startCli(["run"], { env: { ATTESTORE_HOME: root.layout.root } });
  try {
    const done = (id: string) => existsSync(join(root.layout.commandsDone, `${id}.json`));
    const tests = () => service.receipts.length - 2;
    const scheduled = service.command("restore_test", "invoices", "sqlite", { backup_id: newest });
    while (!done(scheduled.id) || existsSync(join(root.layout.draws, `${service.sourceId("invoices")}.json`)))
      await pause(20);
    while (draws().length < 1 || tests() < 1) await pause(20);
    await agent.said("the drawn backup");
    expect(draws()).toHaveLength(1);
    const before = tests();
    const named = service.command("restore_test", "invoices", "sqlite", { backup_id: oldest });
    while (!done(named.id) || tests() === before) await pause(20);
    expect(draws()).toHaveLength(1);
  } finally {
    agent.process.kill("SIGTERM");
    await agent.finished;
  }
});

it("a wrong restore_test.pick is named, with the values that it takes", async () => {
  pickBy("any");
  const done = await cli("restore-test");
  expect([done.code, done.stderr]).toEqual([
    2,
    expect.stringContaining("restore_test.pick must be one of newest, random, oldest"),
  ]);
});

it("without a service the choice is random too, and the receipt claims no draw", async () => {
  const base = join(root.layout.root, "alone");
  const env = { ATTESTORE_HOME: join(base, "root") };
  const alone = (...args: string[]) => runCli(args, { env, cwd: root.layout.root });
  expect((await alone("init", "--standalone", "--storage", join(base, "store"))).code).toBe(0);
  const config = join(env.ATTESTORE_HOME, "config.yaml");
  writeFileSync(
    config,
    `${readFileSync(config, "utf8")}\nsources:\n  invoices: { engine: sqlite, path: ${join(root.layout.root, "invoices.db")}, restore_test: { pick: random } }\n`,
  );
  for (let i = 0; i < 2; i++) expect((await alone("backup")).code).toBe(0);
  const done = await alone("restore-test", "--json");
  expect(done.code, done.stderr).toBe(0);
  const tested = done.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { drawn: boolean });
  expect(tested.map(({ drawn }) => drawn)).toEqual(tested.map(() => false));
  rmSync(base, { recursive: true });
});
