import { X509Certificate } from "node:crypto";
import { statfs } from "node:fs/promises";
import type { Pool } from "pg";
import { Gauge, type Registry } from "prom-client";
import { countUnawaitedStandbys } from "../../platform/postgres/unawaited-standbys.ts";

export interface Surroundings {
  /** ATTESTORE_DATA */
  dataDirectory: string;
  /** The certificate that is served now, in PEM. */
  certificate: () => string;
  /** As the log's role. */
  log: Pool;
  /** As the role of scheduled jobs. */
  jobs: Pool;
}

interface Counted {
  clocks_apart_s: number;
  unwitnessed: number;
  mail_oldest_s: number;
  standbys: number;
}

/** Any program of this machine can ask, and asks the database at most this often. */
const FRESH_MS = 5_000;
/** Logs that grew so long ago should have been cosigned by an agent. */
const WITNESSED_WITHIN = "25 hours";

const UNWITNESSED = `select count(*)::int as count from logs cross join lateral (
    select tree_size from log_emissions where log_emissions.org_id = logs.org_id
      and hour <= clock_timestamp() - interval '${WITNESSED_WITHIN}' order by hour desc limit 1) as old
  where old.tree_size > 0
    and exists (select from agents where agents.org_id = logs.org_id and status = 'active')
    and not exists (select from agents join agent_witnesses on agent_id = agents.id
      where agents.org_id = logs.org_id and cosignature is not null and agent_witnesses.tree_size >= old.tree_size)`;

/**
 * What the service depends on: disk, certificate, clocks, standbys, witnesses, mail. A
 * gauge whose value cannot be found out is left out of the scrape.
 */
export function measureSurroundings(registry: Registry, around: Surroundings): void {
  let read = { at: Number.NEGATIVE_INFINITY, counted: Promise.resolve<Counted | null>(null) };
  const counted = (): Promise<Counted | null> => {
    if (performance.now() - read.at > FRESH_MS)
      read = { at: performance.now(), counted: count(around).catch(() => null) };
    return read.counted;
  };
  const gauge = (name: string, help: string, value: () => number | null | Promise<number | null>): void => {
    new Gauge({
      name: `attestore_${name}`,
      help,
      registers: [registry],
      async collect() {
        const found = await Promise.resolve()
          .then(value)
          .catch(() => null);
        if (found === null) this.remove();
        else this.set(found);
      },
    });
  };
  gauge("disk_free_bytes", "Bytes free on the file system of the data directory.", async () => {
    const { bavail, bsize } = await statfs(around.dataDirectory);
    return bavail * bsize;
  });
  gauge("certificate_not_after_timestamp_seconds", "Time at which the served certificate ends.", () => {
    return Date.parse(new X509Certificate(around.certificate()).validTo) / 1000;
  });
  gauge(
    "clocks_apart_seconds",
    "How far this machine's clock and the database's are apart. Beyond 30 nothing is appended to the log.",
    async () => (await counted())?.clocks_apart_s ?? null,
  );
  gauge(
    "standbys_unawaited",
    "Servers that copy the database and that no commit waits for.",
    async () => (await counted())?.standbys ?? null,
  );
  gauge(
    "logs_unwitnessed",
    `Logs of organisations with agents, none of which has cosigned the head of ${WITNESSED_WITHIN} ago.`,
    async () => (await counted())?.unwitnessed ?? null,
  );
  gauge(
    "mail_oldest_seconds",
    "Age of the oldest mail that waits to be sent; 0 if none does.",
    async () => (await counted())?.mail_oldest_s ?? null,
  );
}

async function count({ log, jobs }: Surroundings): Promise<Counted> {
  const asked = Date.now();
  const clock = await log.query<{ now: Date }>("select clock_timestamp() as now");
  const answered = Date.now();
  const there = clock.rows[0]?.now.getTime() ?? answered;
  const unwitnessed = await log.query<{ count: number }>(UNWITNESSED);
  const mail = await jobs.query<{ oldest_s: number }>(
    "select coalesce(greatest(0, extract(epoch from clock_timestamp() - min(created_at))), 0)::float8 as oldest_s from mail_outbox",
  );
  return {
    clocks_apart_s: Math.max(0, asked - there, there - answered) / 1000,
    unwitnessed: unwitnessed.rows[0]?.count ?? 0,
    mail_oldest_s: mail.rows[0]?.oldest_s ?? 0,
    standbys: await countUnawaitedStandbys(log),
  };
}

/** @param pools by what they are for */
export function measurePools(registry: Registry, pools: Readonly<Record<string, Pool>>): void {
  new Gauge({
    name: "attestore_database_connections",
    help: "This process's connections to the database, by what they are for and whether they are in use.",
    labelNames: ["pool", "state"],
    registers: [registry],
    collect() {
      for (const [pool, { totalCount, idleCount }] of Object.entries(pools)) {
        this.set({ pool, state: "idle" }, idleCount);
        this.set({ pool, state: "used" }, totalCount - idleCount);
      }
    },
  });
  new Gauge({
    name: "attestore_database_connections_waiting",
    help: "Work of this process that waits for a free connection.",
    labelNames: ["pool"],
    registers: [registry],
    collect() {
      for (const [pool, { waitingCount }] of Object.entries(pools)) this.set({ pool }, waitingCount);
    },
  });
}
