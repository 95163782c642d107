/**
 * How long it takes to queue the schedules of many sources that are due at the same time, and what
 * it costs the service and its PostgreSQL in CPU time; and then how long the look takes that comes
 * every 30 seconds, while each source waits for a restore test.
 *
 *   npx -c 'node --no-warnings packages/orchestrator/bench/schedules.ts [--sources 25000,100000] [--organisations 100] [--rounds 2]'
 *
 * Baseline, between the rounds: three bare statements, as the tables' owner and in one transaction,
 * that write the same rows and look at nothing. PostgreSQL cannot take less. The rows that were
 * queued are counted after each round. Prints a table in Markdown; exit code 1 if 600,000 sources
 * would take more than two minutes at the rate of the largest number.
 */
import { parseArgs } from "node:util";
import { noticeMissed } from "../src/features/schedules/notice-missed.ts";
import { queueDue } from "../src/features/schedules/queue-due.ts";
import { silentLogger } from "../src/platform/logging/logger.ts";
import { openTestDatabase } from "../test/database/test-database.ts";
import { cpuSeconds } from "./cpu-time.ts";
import { median } from "./table.ts";

const { values } = parseArgs({
  options: {
    sources: { type: "string", default: "25000,100000" },
    organisations: { type: "string", default: "100" },
    rounds: { type: "string", default: "2" },
  },
});
const AIM = { sources: 600_000, seconds: 120 };
const DUE = new Date("2026-03-02T02:30:00Z");
const JITTER_S = 60;
const NEXT = new Date("2026-03-03T02:30:00Z");

interface Took {
  seconds: number;
  service_us: number;
  postgres_us: number;
}

const database = await openTestDatabase();
const { pool } = database;
const { signal } = new AbortController();
const lines = ["", "s", "a second", "CPU µs: service", "PostgreSQL", "of the bare statements, by CPU"];
const table = [lines, lines.map(() => "---")];
let perSecond = 0;
try {
  let have = 0;
  for (const sources of values.sources.split(",").map(Number)) {
    await addSources(have, sources);
    have = sources;
    const rounds: { bare: Took; queued: Took }[] = [];
    for (let round = 0; round < Number(values.rounds); round++)
      rounds.push({
        bare: await measured(sources, writeBare),
        queued: await measured(sources, () =>
          queueDue(
            { db: database.byClock, scheduleGrace_s: 7200, scheduleJitter_s: JITTER_S },
            { now: new Date(DUE.getTime() + JITTER_S * 1000), signal },
          ),
        ),
      });
    report(sources, rounds);
    process.stderr.write(`${sources} sources wait for a restore test: ${await lookAtWaiting()}\n`);
  }
} finally {
  await database.close();
}
process.stdout.write(`${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`);
const needed_s = AIM.sources / perSecond;
process.stdout.write(
  `${AIM.sources.toLocaleString("en")} at this rate: ${needed_s.toFixed(0)} s; memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MiB at most\n`,
);
process.exitCode = needed_s <= AIM.seconds ? 0 : 1;

/** Each organisation has as many; an agent has three of them. */
async function addSources(from: number, to: number): Promise<void> {
  const organisations = Number(values.organisations);
  const numbers = [from, to - 1];
  const name = (kind: string, n: string): string => `'${kind}_' || lpad((${n})::text, 26, '0')`;
  await pool.query(
    `insert into orgs (id, name, slug) select ${name("org", "n")}, 'Organisation ' || n, 'organisation-' || n from generate_series(0, $1::integer) as n on conflict do nothing`,
    [organisations - 1],
  );
  await pool.query("analyze orgs");
  await pool.query(
    `insert into agents (id, org_id, name, hostname, platform, agent_version, public_key, key_fingerprint, token_sha256, last_seen_at)
     select ${name("agent", "n")}, ${name("org", `n % ${organisations}`)}, 'host-' || n, 'host.example.org', 'linux-x64', '0.1.0',
       sha256(n::text::bytea), 'SHA256:' || n, sha256(n::text::bytea), now()
     from generate_series($1::integer, $2::integer) as n where n / ${organisations} % 3 = 0`,
    numbers,
  );
  await pool.query("analyze agents");
  await pool.query(
    `insert into sources (id, org_id, slug, name, engine, agent_id, schedule)
     select ${name("src", "n")}, ${name("org", `n % ${organisations}`)}, 'database-' || n, 'database-' || n, 'postgresql',
       ${name("agent", `n - n / ${organisations} % 3 * ${organisations}`)},
       '{"backup_cron": "30 2 * * *", "restore_test_cron": null, "timezone": "UTC"}'
     from generate_series($1::integer, $2::integer) as n`,
    numbers,
  );
}

async function measured(sources: number, run: () => Promise<void>): Promise<Took> {
  // Not vacuumed while empty: foreign keys would be checked by reading the whole table, as in no
  // service that has run before.
  await pool.query("truncate scheduled_runs, commands cascade");
  await pool.query("update sources set next_backup_at = $1", [DUE]);
  await pool.query("vacuum analyze sources");
  await pool.query("checkpoint");
  const [began, own, postgres] = [performance.now(), process.cpuUsage(), cpuSeconds(process.pid).postgres];
  await run();
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(own);
  const took = {
    seconds,
    service_us: (user + system) / sources,
    postgres_us: ((cpuSeconds(process.pid).postgres - postgres) * 1e6) / sources,
  };
  const { rows } = await pool.query<Record<"commands" | "runs" | "next", number>>(
    `select (select count(distinct source_id)::integer from commands) as commands,
       (select count(*)::integer from scheduled_runs join commands on commands.id = command_id where scheduled_at = $1) as runs,
       (select count(*)::integer from sources where next_backup_at = $2) as next`,
    [DUE, NEXT],
  );
  if (Object.values(rows[0] ?? {}).some((count) => count !== sources))
    throw new Error(`${sources} sources were due, and there are ${JSON.stringify(rows[0])}`);
  return took;
}

async function lookAtWaiting(): Promise<string> {
  await pool.query("update scheduled_runs set kind = 'restore_test'");
  await pool.query("vacuum analyze scheduled_runs");
  const deps = {
    db: database.byClock,
    clock: () => DUE,
    logger: silentLogger,
    scheduleGrace_s: 7200,
    scheduleJitter_s: JITTER_S,
    heartbeatInterval_s: 60,
    silentAfterIntervals: 10,
  };
  const began = performance.now();
  await noticeMissed(deps, { now: DUE, signal });
  return `${((performance.now() - began) / 1000).toFixed(1)} s`;
}

async function writeBare(): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query(
      `insert into commands (id, org_id, source_id, agent_id, kind, issued_by, created_at)
       select 'cmd_' || id, org_id, id, agent_id, 'backup', 'schedule', $1 from sources`,
      [DUE],
    );
    await client.query(
      `insert into scheduled_runs (source_id, kind, scheduled_at, org_id, deadline_at, command_id)
       select source_id, kind, created_at, org_id, created_at + interval '2 hours', id from commands`,
    );
    await client.query("update sources set next_backup_at = $1", [NEXT]);
    await client.query("commit");
  } finally {
    client.release();
  }
}

function report(sources: number, rounds: readonly { bare: Took; queued: Took }[]): void {
  const cpu = ({ service_us, postgres_us }: Took): number => service_us + postgres_us;
  for (const name of ["bare", "queued"] as const) {
    const of = (value: (took: Took) => number): number => median(rounds.map((round) => value(round[name])));
    const ratio = median(rounds.map((round) => cpu(round[name]) / cpu(round.bare)));
    table.push([
      `${sources.toLocaleString("en")} sources, ${name === "bare" ? "bare statements" : "queued"}`,
      of(({ seconds }) => seconds).toFixed(1),
      (sources / of(({ seconds }) => seconds)).toFixed(0),
      of(({ service_us }) => service_us).toFixed(0),
      of(({ postgres_us }) => postgres_us).toFixed(0),
      ratio.toFixed(2),
    ]);
    if (name === "queued") perSecond = sources / of(({ seconds }) => seconds);
  }
}
