/**
 * How long the calls that read take when an organisation has a million receipts and there are a
 * thousand organisations; and against that, when there is one of ten thousand receipts.
 *
 *   npx -c 'node --no-warnings packages/orchestrator/bench/scale.ts [--small 10000] [--large 1000000] [--organisations 1000] [--calls 200] [--archive 90]'
 *
 * The service as it ships, its PostgreSQL and the client share the machine; one call at a time over
 * HTTPS on a connection that is open. A share of the proofs is verified. With --archive, envelopes
 * older than so many days are archived on the disk before the large one is measured, and the sizes
 * of the table of receipts before and after are told. Prints a table in Markdown; exit code 1 where
 * an aim is missed. Takes some ten minutes and 6 GB of disk.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { newId } from "@attestore/contract";
import type { NoteVerifier } from "@attestore/proof";
import type { Pool } from "pg";
import { exchange } from "../../../tests/e2e/harness/https.ts";
import { startServer } from "../../../tests/e2e/harness/server.ts";
import { connectDatabase } from "../src/platform/database/database.ts";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { openDatabase } from "../src/platform/postgres/open-database.ts";
import { callsOf, type MeasuredCall } from "./scale-calls.ts";
import { addOrganisations, addSession, makeHistory, type History } from "./scale-history.ts";
import { requireBundle, requireConsistent, requireIncluded } from "./scale-proofs.ts";
import { median } from "./table.ts";

const { values } = parseArgs({
  options: {
    small: { type: "string", default: "10000" },
    large: { type: "string", default: "1000000" },
    organisations: { type: "string", default: "1000" },
    calls: { type: "string", default: "200" },
    archive: { type: "string" },
  },
});
const AIM_P99_MS = 50;
const AIM_RATIO = 1.5;
const WARM_UP = 30;
/** Of the calls that prove something, every n-th answer is verified. */
const VERIFIED_EVERY = 10;

interface Took {
  name: string;
  p50_ms: number;
  p99_ms: number;
  /** Answered entries, of a list. */
  items: number | null;
}

const server = await startServer({ ATTESTORE_RATE_DEFAULT: "1000000/60" });
try {
  const opened = await openDatabase({ dataDirectory: server.data, role: "command", log: silentLogger });
  const database = connectDatabase({
    connection: opened.connection,
    log: silentLogger,
    connections: 3,
  });
  const { pool } = database;
  const operatorId = newId("user");
  await pool.query("insert into users (id, email, role) values ($1, 'operator@example.org', 'operator')", [
    operatorId,
  ]);
  const operator = await addSession(pool, operatorId);
  const { id: smallId } = await server.cliJson<{ id: string }>("org", "add", "Ten Thousand");
  const small = await told(`${values.small} receipts`, () =>
    makeHistory(pool, smallId, Number(values.small)),
  );
  const before = await told("measured", () => measureAll(small, operator));
  const { id: largeId } = await server.cliJson<{ id: string }>("org", "add", "A Million");
  await addOrganisations(pool, Number(values.organisations) - 2, largeId);
  const large = await told(`${values.large} receipts`, () =>
    makeHistory(pool, largeId, Number(values.large)),
  );
  const { rows } = await pool.query<{ size: string }>(
    "select pg_size_pretty(pg_database_size(current_database())) as size",
  );
  process.stderr.write(`the database: ${rows[0]?.size ?? ""}\n`);
  if (values.archive !== undefined) await archive(pool, values.archive);
  const after = await told("measured", () => measureAll(large, operator));
  await database.close();
  await opened.close();
  report(before, after);
} finally {
  await server.remove();
}

async function told<T>(what: string, run: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await run();
  process.stderr.write(`${what}: ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
  return result;
}

async function archive(pool: Pool, days: string): Promise<void> {
  const size = async (): Promise<string> => {
    // What the table takes once PostgreSQL has used the room again.
    await pool.query("vacuum full receipts");
    await pool.query("analyze receipts");
    const { rows } = await pool.query<{ size: string }>(
      "select pg_size_pretty(pg_total_relation_size('receipts')) as size",
    );
    return rows[0]?.size ?? "";
  };
  const before = await size();
  const done = await told("archived", () =>
    server.cliJson<{ receipts: number; files: number; bytes: number }>(
      "log",
      "archive",
      "--older-than",
      days,
    ),
  );
  process.stderr.write(
    `archived ${done.receipts} receipts, ${done.bytes} bytes in ${done.files} files; the table of receipts: ${before}, then ${await size()}\n`,
  );
}

async function measureAll(history: History, operator: string): Promise<Took[]> {
  const calls = callsOf(history, operator);
  const first = await ask(`/api/receipts/${history.samples[0]?.receiptId ?? ""}/bundle`, history.token);
  const log = await requireBundle(first.body);
  const took: Took[] = [];
  for (const call of calls) {
    const one = await measure(call, history, log);
    process.stderr.write(`${one.name}: p50 ${one.p50_ms.toFixed(1)} ms, p99 ${one.p99_ms.toFixed(1)} ms\n`);
    took.push(one);
  }
  return took;
}

async function measure(call: MeasuredCall, history: History, log: NoteVerifier): Promise<Took> {
  const times: number[] = [];
  let items: number | null = null;
  for (let n = 0; n < WARM_UP + Number(values.calls); n++) {
    const path = call.path(n);
    const { body, took_ms } = await ask(path, call.token);
    if (n >= WARM_UP) times.push(took_ms);
    if (n % VERIFIED_EVERY === 0) await verify(call, body, history, log);
    items = body.startsWith('{"items":') ? (JSON.parse(body) as { items: unknown[] }).items.length : null;
  }
  times.sort((a, b) => a - b);
  return {
    name: call.name,
    p50_ms: median(times),
    p99_ms: times[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN,
    items,
  };
}

/** An organisation may make so many calls a minute: then this waits, and asks once more. */
async function ask(path: string, token: string): Promise<{ body: string; took_ms: number }> {
  const started = performance.now();
  const answer = await exchange(server, { method: "GET", path, token });
  const took_ms = performance.now() - started;
  if (answer.status === 429) {
    await delay(Number(answer.headers["retry-after"]) * 1000);
    return ask(path, token);
  }
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.body.toString()}`);
  return { body: answer.body.toString(), took_ms };
}

async function verify(
  { proves }: MeasuredCall,
  body: string,
  { samples, agent }: History,
  log: NoteVerifier,
): Promise<void> {
  if (proves === undefined) return;
  if (proves === "bundle") {
    await requireBundle(body);
    return;
  }
  const { inclusion } = JSON.parse(body) as { inclusion: { log_index: number } };
  const leaf = samples.find(({ logIndex }) => logIndex === inclusion.log_index);
  const { consistency } = await requireIncluded(body, log, leaf?.leafHash ?? "");
  if (proves === "proof" || consistency === null) return;
  const { body: earlier } = await ask(`/v1/log/proof?leaf=0&tree_size=${consistency.from}`, agent.token);
  await requireConsistent(body, log, (JSON.parse(earlier) as { checkpoint: string }).checkpoint);
}

function report(before: readonly Took[], after: readonly Took[]): void {
  const line = (...cells: string[]): string => `| ${cells.join(" | ")} |`;
  const head = [
    "",
    "entries",
    `p50 ms at ${values.small}`,
    `at ${values.large}`,
    "ratio",
    `p99 ms at ${values.large}`,
    "",
  ];
  const lines = [line(...head), line(...head.map(() => "---"))];
  let missed = 0;
  for (const [n, now] of after.entries()) {
    const then = before[n];
    if (then === undefined) continue;
    const ratio = now.p50_ms / then.p50_ms;
    const failures = [...(now.p99_ms < AIM_P99_MS ? [] : ["p99"]), ...(ratio <= AIM_RATIO ? [] : ["ratio"])];
    missed += failures.length;
    lines.push(
      line(
        now.name,
        now.items === null ? "" : `${String(then.items)} / ${String(now.items)}`,
        then.p50_ms.toFixed(1),
        now.p50_ms.toFixed(1),
        ratio.toFixed(2),
        now.p99_ms.toFixed(1),
        failures.length === 0 ? "met" : `MISSED: ${failures.join(", ")}`,
      ),
    );
  }
  process.stdout.write(`${lines.join("\n")}\n`);
  process.exitCode = missed === 0 ? 0 : 1;
}
