import { X509Certificate } from "node:crypto";
import { statfs } from "node:fs/promises";
import type { Pool } from "pg";
import { Gauge, type Registry } from "prom-client";
import { cacheAnswer } from "./cached-answer.ts";
import { findUnwitnessedLogs, WITNESSED_WITHIN } from "../../log/witnesses/unwitnessed-logs.ts";
import { countAsynchronousStandbys } from "../../platform/postgres/asynchronous-standbys.ts";

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
/**
 * What the service depends on: disk, certificate, clocks, standbys, witnesses, mail. A
 * gauge whose value cannot be found out is left out of the scrape.
 */
export function measureSurroundings(registry: Registry, around: Surroundings): void {
  const counted = cacheAnswer<Counted | null>(() => count(around).catch(() => null), { fresh_ms: FRESH_MS });
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
  const unwitnessed = await findUnwitnessedLogs(log);
  const mail = await jobs.query<{ oldest_s: number }>(
    "select coalesce(greatest(0, extract(epoch from clock_timestamp() - min(created_at))), 0)::float8 as oldest_s from mail_outbox",
  );
  return {
    clocks_apart_s: Math.max(0, asked - there, there - answered) / 1000,
    unwitnessed: unwitnessed.length,
    mail_oldest_s: mail.rows[0]?.oldest_s ?? 0,
    standbys: await countAsynchronousStandbys(log),
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
