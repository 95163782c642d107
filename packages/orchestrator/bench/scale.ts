/**
 * How long the calls that read take when an organisation has a million receipts and there are a
 * thousand organisations; and against that, when there is one of ten thousand receipts.
 *
 *   npx -c 'node --no-warnings packages/orchestrator/bench/scale.ts [--small 10000] [--large 1000000] [--organisations 1000] [--calls 200] [--rounds 3] [--archive 90] [--taking] [--buffers] [--wait]'
 *
 * Two services as they ship, each with its PostgreSQL, and the client share the machine. Reading
 * is one call at a time over HTTPS on a connection that is open, and a share of the proofs is
 * verified. Then both take receipts in turn; with --taking they do nothing else. With --buffers the
 * pages of the database that each call looks at are counted instead, whatever else the machine
 * does; standard error tells them for each statement. With --archive, envelopes older than so many
 * days are archived on the disk before the large one is measured, and the sizes of the table of
 * receipts before and after are told. With --wait nothing is measured until a line comes on
 * standard input: others may use the machine while rows are written, but not while it is measured.
 * Prints tables in Markdown; exit code 1 where an aim is missed. Takes some ten minutes and 6 GB of
 * disk.
 */
import { once } from "node:events";
import { parseArgs } from "node:util";
import { newId } from "@attestore/contract";
import type { Pool } from "pg";
import { type Server, startServer } from "../../../tests/e2e/harness/server.ts";
import { connectDatabase } from "../src/platform/database/database.ts";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { openDatabase } from "../src/platform/postgres/open-database.ts";
import { buffersTable, countFromNextStart, type Looked, measureBuffers } from "./scale-buffers.ts";
import { addOrganisations, addSession, makeHistory, type History } from "./scale-history.ts";
import { measureReading, type Took } from "./scale-reading.ts";
import { measureTaking } from "./scale-taking.ts";
import { markdownTable } from "./table.ts";

const { values } = parseArgs({
  options: {
    small: { type: "string", default: "10000" },
    large: { type: "string", default: "1000000" },
    organisations: { type: "string", default: "1000" },
    calls: { type: "string", default: "200" },
    rounds: { type: "string", default: "3" },
    archive: { type: "string" },
    taking: { type: "boolean", default: false },
    buffers: { type: "boolean", default: false },
    wait: { type: "boolean", default: false },
  },
});
const AIM_P99_MS = 50;
const AIM_RATIO = 1.5;

interface Service {
  name: string;
  server: Server;
  history: History;
  /** The token of an operator's session. */
  operator: string;
}

const servers: Server[] = [];
try {
  const small = await prepare(values.small, 1);
  const large = await prepare(values.large, Number(values.organisations), values.archive);
  if (values.wait) {
    process.stderr.write("waiting for a line\n");
    await once(process.stdin, "data");
    process.stdin.destroy();
  }
  const read = ({ server, history, operator, name }: Service): Promise<Took[]> =>
    told(`reading, ${name}`, () =>
      measureReading({ server, history, operator, times: Number(values.calls) }),
    );
  if (values.buffers) process.stdout.write(`${buffersTable(await count(small), await count(large))}\n`);
  else {
    if (!values.taking) report(await read(small), await read(large));
    const taken = await measureTaking([small, large], Number(values.rounds));
    process.stdout.write(`\n${markdownTable(taken)}\n`);
  }
} finally {
  for (const server of servers) await server.remove();
}

/** A service whose first organisation has so many receipts. */
async function prepare(receipts: string, organisations: number, archiveDays?: string): Promise<Service> {
  const server = await startServer({ ATTESTORE_RATE_DEFAULT: "1000000/60" });
  servers.push(server);
  const { pool, close } = await connect(server);
  const operatorId = newId("user");
  await pool.query("insert into users (id, email, role) values ($1, 'operator@example.org', 'operator')", [
    operatorId,
  ]);
  const operator = await addSession(pool, operatorId);
  const { id } = await server.cliJson<{ id: string }>("org", "add", "Measured");
  await addOrganisations(pool, organisations - 1, id);
  const name = `${receipts} receipts`;
  const history = await told(name, () => makeHistory(pool, id, Number(receipts)));
  const { rows } = await pool.query<{ size: string }>(
    "select pg_size_pretty(pg_database_size(current_database())) as size",
  );
  process.stderr.write(`the database: ${rows[0]?.size ?? ""}\n`);
  if (archiveDays !== undefined) await archive(server, pool, archiveDays);
  await close();
  return { name, server, history, operator };
}

/** Restarts the service: its PostgreSQL counts from the start on. */
async function count({ server, history, operator, name }: Service): Promise<Looked[]> {
  const counting = await connect(server);
  await countFromNextStart(counting.pool);
  await counting.close();
  await server.stop();
  await server.start();
  const { pool, close } = await connect(server);
  const looked = await told(`counting, ${name}`, () =>
    measureBuffers({ server, history, operator, times: Number(values.calls) }, pool),
  );
  await close();
  return looked;
}

/** To the database of a service that runs, as its owner. */
async function connect(server: Server): Promise<{ pool: Pool; close: () => Promise<void> }> {
  const opened = await openDatabase({ dataDirectory: server.data, role: "command", log: silentLogger });
  const database = connectDatabase({ connection: opened.connection, log: silentLogger, connections: 3 });
  const close = async (): Promise<void> => {
    await database.close();
    await opened.close();
  };
  return { pool: database.pool, close };
}

async function told<T>(what: string, run: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await run();
  process.stderr.write(`${what}: ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
  return result;
}

async function archive(server: Server, pool: Pool, days: string): Promise<void> {
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
