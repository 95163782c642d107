import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { declareSource, writeEncryptedDump, type BackupRecord } from "../e2e/harness/backups.ts";
import { attach, createOrganisation, type WireAgent } from "../e2e/harness/organisation.ts";
import { processesUnder } from "../e2e/harness/processes.ts";
import { startServer, type Server } from "../e2e/harness/server.ts";
import { until } from "../e2e/harness/wait.ts";
import { ReceiptStream, type Acknowledged } from "./receipt-stream.ts";
import { SeenHeads } from "./seen-heads.ts";
import { storedReceipts } from "./stored-receipts.ts";

const ROUNDS = process.env["TEST_ALL"] === undefined ? 2 : 8;
/** How long after the service answers again the next blow falls, at random up to so much. */
const MOST_MS = 400;

let server: Server;
let submitters: { agent: WireAgent; backup: BackupRecord }[];
let heads: Map<string, SeenHeads>;
const acknowledged: Acknowledged[] = [];

beforeAll(async () => {
  server = await startServer({ ATTESTORE_RATE_DEFAULT: "1000000/60" });
  submitters = [];
  for (let n = 0; n < 3; n++) {
    const agent = await attach(await createOrganisation(server));
    submitters.push({ agent, backup: await writeEncryptedDump(agent, await declareSource(agent)) });
  }
  heads = new Map(submitters.map(({ agent }) => [agent.id, new SeenHeads(agent)]));
});
// Throws if any process, a PostgreSQL without its service for one, is left behind.
afterAll(() => server.remove());

test(`no acknowledged receipt is lost when the service is killed ${ROUNDS} times while receipts arrive`, async () => {
  await using stream = new ReceiptStream(submitters, 2);
  for (let round = 0; round < ROUNDS; round++) {
    await stream.advance(10);
    await delay(randomInt(MOST_MS));
    await server.kill();
    await server.start();
    // A child that was just forked still looks like its parent.
    await until("there is one PostgreSQL", () => postmasters().length === 1);
    await stream.advance(10);
    await requireExtended();
  }
  await requireAllThere(stream);
});

test(`no acknowledged receipt is lost when its PostgreSQL is killed ${ROUNDS} times while receipts arrive`, async () => {
  await using stream = new ReceiptStream(submitters, 2);
  for (let round = 0; round < ROUNDS; round++) {
    await stream.advance(10);
    await delay(randomInt(MOST_MS));
    const pid = postmasterPid();
    process.kill(pid, "SIGKILL");
    await until("another PostgreSQL is up", () => postmasterPid() !== pid && postmasters().length === 1, 60);
    await stream.advance(10);
    await requireExtended();
  }
  await requireAllThere(stream);
});

function postmasterPid(): number {
  try {
    const file = join(server.data, "postgres", "data", "postmaster.pid");
    return Number(readFileSync(file, "utf8").split("\n")[0]);
  } catch {
    return NaN; // Between two servers.
  }
}

/** Server processes that were started on the data directory, their children not counted. */
function postmasters(): unknown[] {
  return processesUnder(server.data).filter(({ command }) => /\bpostgres -D /.test(command));
}

/** The newest head of each log extends the largest ones of those seen before. */
async function requireExtended(): Promise<void> {
  for (const seen of heads.values())
    await seen.requireExtended(seen.sizes.filter((size) => size > 0).slice(-3));
}

/**
 * Ends the stream, and then looks for every acknowledged receipt, for damage, and at every head
 * ever seen.
 */
async function requireAllThere(stream: ReceiptStream): Promise<void> {
  await stream.stop();
  expect(stream.disturbed, "the blows were felt").toBeGreaterThan(ROUNDS);
  acknowledged.push(...stream.acknowledged);
  for (const one of stream.acknowledged) heads.get(one.agent.id)?.take(one);
  for (const seen of heads.values()) await seen.requireExtended(seen.sizes.filter((size) => size > 0));

  const stored = await storedReceipts(server.data);
  // Each submission was repeated until it was acknowledged, so there is nothing else either.
  expect(stored.size).toBe(acknowledged.length);
  for (const { receipt, envelopeSha256 } of acknowledged)
    expect(stored.get(receipt.receipt_id)).toEqual({
      log_index: receipt.log_index,
      envelope: envelopeSha256,
    });
  const places = acknowledged.map(({ agent, receipt }) => `${agent.orgId} ${receipt.log_index}`);
  expect(new Set(places).size).toBe(places.length);

  const fsck = await server.cliJson<{ ok: boolean; findings: unknown[]; counts: { receipts: number } }>(
    "fsck",
  );
  expect(fsck).toMatchObject({ ok: true, findings: [], counts: { receipts: acknowledged.length } });
}
