/**
 * The home page with 200 sources and a year of their history, in the real service, its PostgreSQL
 * and Debian's Chromium:
 *
 *   npx -c 'node --no-warnings packages/dashboard/bench/home.ts'
 *
 * Prints a Markdown table. Exit code 1 if a limit is exceeded.
 */
import pg from "pg";
import { silentLogger } from "../../orchestrator/src/platform/logging/logger.ts";
import { openDatabase } from "../../orchestrator/src/platform/postgres/open-database.ts";
import { buildDashboard } from "../../../tests/e2e/dashboard/build-dashboard.ts";
import { startServer } from "../../../tests/e2e/harness/server.ts";
import { measurePage } from "./measure-page.ts";
import { measureRequests } from "./measure-requests.ts";
import { makeHistory } from "./make-history.ts";
import { scriptSize } from "./script-size.ts";

const SOURCES = 200;
const DAYS = 365;

interface Figure {
  what: string;
  value: number;
  unit: string;
  /** None for what is only told. */
  ceiling?: number;
}

await buildDashboard();
const server = await startServer();
const figures: Figure[] = [];
try {
  const { id: orgId } = await server.cliJson<{ id: string }>("org", "add", "Two Hundred");
  const opened = await openDatabase({ dataDirectory: server.data, role: "command", log: silentLogger });
  const client = new pg.Client(opened.connection);
  await client.connect();
  const started = performance.now();
  const { sessionToken } = await makeHistory(client, orgId, { sources: SOURCES, days: DAYS });
  await client.end();
  await opened.close();
  process.stderr.write(`made the history in ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
  for (const { call, ...took } of await measureRequests(server, orgId, sessionToken)) {
    figures.push({ what: `${call}, median`, value: took.p50_ms, unit: "ms", ceiling: 50 });
    figures.push({ what: `${call}, 95 of 100`, value: took.p95_ms, unit: "ms" });
    figures.push({ what: `${call}, CPU time of the service`, value: took.service_ms, unit: "ms" });
    figures.push({ what: `${call}, CPU time of PostgreSQL`, value: took.postgres_ms, unit: "ms" });
    figures.push({ what: `${call}, answer`, value: took.bytes / 1024, unit: "KiB" });
  }
  const page = await measurePage(server, sessionToken, SOURCES);
  figures.push(
    { what: "first contentful paint, cold cache, median", value: page.paint_ms, unit: "ms", ceiling: 1000 },
    { what: "the sources are on show, median", value: page.shown_ms, unit: "ms" },
    { what: "slowest request of a load, median", value: page.slowestRequest_ms, unit: "ms", ceiling: 50 },
    { what: "slowest request of all loads", value: page.slowestOfAll_ms, unit: "ms" },
    ...page.interactions.map(({ what, ms }) => ({ what, value: ms, unit: "ms", ceiling: 100 })),
  );
  const script = scriptSize();
  figures.push(
    { what: "script of all pages, gzip", value: script.all / 1024, unit: "KiB", ceiling: 350_000 / 1024 },
    {
      what: "script that home loads, gzip",
      value: page.scripts.map(script.of).reduce((a, b) => a + b, 0) / 1024,
      unit: "KiB",
    },
  );
} finally {
  await server.remove();
}

const cells = figures.map(({ what, value, unit, ceiling }) => [
  what,
  `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`,
  ceiling === undefined ? "" : `${ceiling.toFixed(0)} ${unit}`,
  ceiling === undefined ? "" : value <= ceiling ? "kept" : "**over**",
]);
const lines = [["", "seen", "ceiling", ""], ["---", "---", "---", "---"], ...cells];
process.stdout.write(`${lines.map((line) => `| ${line.join(" | ")} |`).join("\n")}\n`);
if (figures.some(({ value, ceiling }) => ceiling !== undefined && value > ceiling)) process.exitCode = 1;
