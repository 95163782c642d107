import { existsSync, readdirSync, watch } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import type { EnvelopeRequest } from "@attestore/contract";
import { envelopeFromJson, sha256, toHex } from "@attestore/proof";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { listAllReceipts, readEnvelope } from "../src/receipts/receipt-files.ts";
import { runCli, startCli, type Running } from "./service/cli.ts";
import { attachedRoot, type TestRoot } from "./service/test-root.ts";
import { TestService } from "./service/test-service.ts";

/**
 * kill -9 of whole commands at named points, one after the other in one root that is never tidied
 * up in between: each finds what those before it have left. In the end nothing that was signed is
 * lost, nothing is there twice, and nothing lies around.
 */

let service: TestService;
let root: TestRoot;
/** Payloads of every receipt that was ever seen in the root, by their digests. */
const signed = new Set<string>();

beforeAll(async () => {
  service = await TestService.start();
  root = await attachedRoot(
    service,
    `  orders:
    engine: sqlite
    path: orders.db
    checks: [{ id: rows, query: "select count(*) as n from orders", expect: "n = 500" }]
`,
  );
  const database = new DatabaseSync(join(root.layout.root, "orders.db"));
  database.exec("create table orders (id integer primary key)");
  for (let row = 0; row < 500; row++) database.prepare("insert into orders values (?)").run(row);
  database.close();
  // A backup to test, and a chain to go on with.
  expect((await cli("backup")).code).toBe(0);
});
afterAll(async () => {
  root.remove();
  await service.stop();
});
beforeEach(() => {
  service.interfere = () => undefined;
  service.commands = [];
});

const env = () => ({ env: { ATTESTORE_HOME: root.layout.root } });
const cli = (...args: string[]) => runCli(args, env());

/** The digest of each payload by that of the payload before it, which no two of them may share. */
function nextByPrevious(envelopes: EnvelopeRequest[]): Map<string | null, string> {
  const next = new Map<string | null, string>();
  for (const envelope of envelopes) {
    const { payload } = envelopeFromJson(envelope);
    const { predicate } = JSON.parse(new TextDecoder().decode(payload)) as {
      predicate: { previous_receipt_sha256: string | null };
    };
    const digest = toHex(sha256(payload));
    const other = next.get(predicate.previous_receipt_sha256) ?? digest;
    expect(other, "two in one place of the chain").toBe(digest);
    next.set(predicate.previous_receipt_sha256, digest);
  }
  return next;
}

type Command = "backup" | "restore-test" | "sync" | "run";

/**
 * What a killed command would have to do: `sync` has a ciphertext that waits, `run` a command of
 * the service's.
 */
async function start(command: Command): Promise<Running> {
  if (command === "sync") {
    service.interfere = ({ route }) => (route === "POST /v1/backups/upload-url" ? "cut" : undefined);
    const waiting = startCli(["backup"], env());
    const blobs = (): string[] =>
      readdirSync(root.layout.blobs).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
    while (blobs().length === 0) await pause(10);
    waiting.process.kill("SIGKILL");
    await waiting.finished;
    service.interfere = () => undefined;
  }
  if (command === "run") service.command("backup", "orders", "sqlite");
  return startCli([command], env());
}

async function afterKill(): Promise<void> {
  for (const file of await listAllReceipts(root.layout))
    signed.add(toHex(sha256((await readEnvelope(file)).payload)));
}

type OfRoute = [command: Command, route: RegExp, moment: "cut" | "cut-after"];
const ROUTES: OfRoute[] = (["cut", "cut-after"] as const).flatMap((moment): OfRoute[] => [
  ["backup", /^POST \/v1\/backups\/upload-url$/, moment],
  ["backup", /^PUT \/objects\//, moment],
  ["backup", /^POST \/v1\/backups$/, moment],
  ["backup", /^POST \/v1\/receipts$/, moment],
  ["restore-test", /^POST \/v1\/backups\/bkp_\w+\/download-url$/, moment],
  ["restore-test", /^GET \/objects\//, moment],
  ["restore-test", /^POST \/v1\/receipts$/, moment],
  ["sync", /^PUT \/objects\//, moment],
  ["sync", /^POST \/v1\/backups$/, moment],
  ["run", /^POST \/v1\/heartbeat$/, moment],
  ["run", /^POST \/v1\/backups$/, moment],
  ["run", /^POST \/v1\/receipts$/, moment],
]);

it.each(ROUTES)("%s is killed at %s, %s", async (command, route, moment) => {
  const victim = await start(command);
  service.interfere = (request) => {
    if (!route.test(request.route)) return undefined;
    victim.process.kill("SIGKILL");
    return moment;
  };
  expect((await victim.finished).code).toBe("SIGKILL");
  await afterKill();
});

type OfFile = [
  command: Command,
  what: string,
  name: RegExp,
  directory: (layout: TestRoot["layout"]) => string,
];
const FILES: OfFile[] = [
  ["backup", "a sandbox", /^attestore-/, ({ scratch }) => scratch],
  ["backup", "a ciphertext begun", /partial|tmp/, ({ blobs }) => blobs],
  ["backup", "a ciphertext", /^[0-9a-f]{64}\.age$/, ({ blobs }) => blobs],
  ["backup", "what is known of it", /^[0-9a-f]{64}\.json$/, ({ blobs }) => blobs],
  ["backup", "a receipt half written", /\.tmp$/, ({ receiptsWaiting }) => receiptsWaiting],
  ["backup", "a receipt that waits", /-backup\.json$/, ({ receiptsWaiting }) => receiptsWaiting],
  ["backup", "a receipt with its proof", /-backup\.json$/, ({ receipts }) => receipts],
  ["restore-test", "a sandbox", /^attestore-/, ({ scratch }) => scratch],
  ["restore-test", "a receipt that waits", /-restore-test\.json$/, ({ receiptsWaiting }) => receiptsWaiting],
  ["restore-test", "a receipt with its proof", /-restore-test\.json$/, ({ receipts }) => receipts],
  ["restore-test", "the head of the log", /^head\.json$/, ({ log }) => log],
  ["sync", "a receipt that waits", /-backup\.json$/, ({ receiptsWaiting }) => receiptsWaiting],
  ["run", "a command", /^cmd_\w+\.json$/, ({ commands }) => commands],
  ["run", "a command's end", /^cmd_\w+\.json$/, ({ commandsDone }) => commandsDone],
  ["run", "a ciphertext", /^[0-9a-f]{64}\.age$/, ({ blobs }) => blobs],
];

it.each(FILES)("%s is killed when there is %s", async (command, _what, name, directory) => {
  const victim = await start(command);
  const watcher = watch(directory(root.layout), (_event, found) => {
    if (found !== null && name.test(found)) victim.process.kill("SIGKILL");
  });
  expect((await victim.finished).code).toBe("SIGKILL");
  watcher.close();
  await afterKill();
});

it("an agent killed again and again has lost nothing, done nothing twice, and left nothing behind", async () => {
  // Each command that the service still has is run, or was run, and the agent says which.
  const agent = startCli(["run"], env());
  await agent.said("attestore runs as");
  const open = (): string[] => readdirSync(root.layout.commands).filter((name) => name.endsWith(".json"));
  while (open().length > 0 || service.commands.length > 0) await pause(50);
  agent.process.kill("SIGTERM");
  await agent.finished;
  expect((await cli("sync")).code).toBe(0);
  expect((await cli("restore-test")).code).toBe(0);
  const verified = await cli("receipts", "verify", "--json");
  expect(verified.code, verified.stdout).toBe(0);

  const files = await listAllReceipts(root.layout);
  const here: string[] = [];
  for (const file of files) {
    expect(file.state).toBe("accepted");
    here.push(toHex(sha256((await readEnvelope(file)).payload)));
  }
  for (const digest of signed) expect(here).toContain(digest);
  const taken = service.receipts.map(({ envelope }) => toHex(sha256(envelopeFromJson(envelope).payload)));
  expect(taken.toSorted()).toEqual(here.toSorted());
  // Receipts and signed events are one chain: each number is one of them, and each names the one
  // before.
  const events = service.events.flatMap(({ envelope }) => (envelope === undefined ? [] : [envelope]));
  const next = nextByPrevious([...service.receipts.map(({ envelope }) => envelope), ...events]);
  const chain: string[] = [];
  for (let link = next.get(null); link !== undefined; link = next.get(link)) chain.push(link);
  expect(chain).toHaveLength(next.size);
  expect(files.map(({ sequence }) => chain[sequence - 1]).toReversed()).toEqual(here.toReversed());
  // Each registered backup has its receipt, and only one.
  const backups = files.filter(({ kind }) => kind === "backup").length;
  expect(service.backups.size).toBe(backups);

  for (const directory of [root.layout.blobs, root.layout.scratch])
    expect(readdirSync(directory), directory).toEqual([]);
  for (const directory of [root.layout.receiptsRefused, root.layout.eventsRefused])
    expect(readdirSync(directory), directory).toEqual([]);
  expect(existsSync(root.layout.logAlarm)).toBe(false);
});
