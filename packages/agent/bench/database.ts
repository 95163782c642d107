/**
 * The shipped executable on a PostgreSQL database, side by side with `pg_dump | zstd | age` and
 * with restic: a backup, stored and fsynced, and a restore test. Adjacent runs in alternating
 * order; ratios above 1 mean that ours is faster, or smaller.
 *
 *   node packages/agent/bench/database.ts [--size-mib 2048] [--rounds 3] [--dir DIR]
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { startDatabaseServer, type DatabaseServer } from "../../../tests/e2e/harness/database.ts";
import { median } from "./median.ts";
import { buildShipped } from "./shipped.ts";
import { shell, timed, type Timed } from "./timed.ts";

const { values } = parseArgs({
  options: {
    "size-mib": { type: "string", default: "2048" },
    rounds: { type: "string", default: "3" },
    dir: { type: "string", default: tmpdir() },
  },
});

const PROGRAMS = "/usr/lib/postgresql/15/bin";
/** The first query of a check that a person would write; each side asks it. */
const CHECK = "select count(*) as n from orders";

interface Measured extends Timed {
  readonly bytes?: number;
}
type Side = () => Measured;

const dir = mkdtempSync(join(values.dir, "attestore-bench-"));
chmodSync(dir, 0o755);
const server = await startDatabaseServer();
try {
  await compare();
} finally {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}

async function compare(): Promise<void> {
  const size_mib = fill(server, Number(values["size-mib"]));
  const { agent } = await buildShipped(dir);
  const identity = await generateX25519Identity();
  const key = join(dir, "key");
  writeFileSync(key, `${identity}\n`, { mode: 0o600 });
  const recipient = await identityToRecipient(identity);
  const root = join(dir, "root");
  const env = {
    ATTESTORE_HOME: root,
    HOME: dir,
    TMPDIR: dir,
    BENCH_URL: server.url("bench"),
    PATH: `${process.env["PATH"]}`,
  };
  timed([agent, "init", "--standalone"], env);
  const config = join(root, "config.yaml");
  writeFileSync(
    config,
    `${readFileSync(config, "utf8").replace(/^sources:.*\n/m, "")}\nsources:\n  bench:\n    engine: postgresql\n    connection: env:BENCH_URL\n    checks:\n      - { id: has-orders, query: "${CHECK}", expect: "n > 0" }\n`,
  );
  const dump = `${PROGRAMS}/pg_dump -Fc -Z0 -d "$BENCH_URL"`;
  const restic = {
    ...env,
    RESTIC_REPOSITORY: join(dir, "restic"),
    RESTIC_PASSWORD: "bench",
    RESTIC_CACHE_DIR: join(dir, "cache"),
  };

  const backup: Side = () => {
    rmSync(join(root, "blobs/stored"), { recursive: true, force: true });
    return { ...timed([agent, "backup", "--source", "bench"], env), bytes: bytesUnder(join(root, "blobs")) };
  };
  const pipe: Side = () => ({
    ...shell(`${dump} | zstd -q -3 | age -r ${recipient} -o ${dir}/theirs.age; sync ${dir}/theirs.age`, env),
    bytes: statSync(join(dir, "theirs.age")).size,
  });
  const resticBackup: Side = () => {
    rmSync(restic.RESTIC_REPOSITORY, { recursive: true, force: true });
    shell("restic init", restic);
    return {
      ...shell(`${dump} | restic backup --stdin --stdin-filename bench.dump`, restic),
      bytes: bytesUnder(restic.RESTIC_REPOSITORY),
    };
  };
  const test: Side = () => timed([agent, "restore-test", "--source", "bench"], env);
  // What a careful person's script does: a scratch server of its own, the restore, a query, and
  // everything removed.
  const restored = (source: string): string => `
    rm -rf ${dir}/scratch; install -d -o postgres ${dir}/scratch
    setpriv --reuid postgres --regid postgres --clear-groups ${PROGRAMS}/initdb -D ${dir}/scratch/d -A trust -U postgres --no-locale -E UTF8 --no-sync
    setpriv --reuid postgres --regid postgres --clear-groups ${PROGRAMS}/pg_ctl -D ${dir}/scratch/d -w -l /dev/null \\
      -o "-k ${dir}/scratch -c listen_addresses= -c fsync=off -c full_page_writes=off -c autovacuum=off" start
    trap 'setpriv --reuid postgres --regid postgres --clear-groups ${PROGRAMS}/pg_ctl -D ${dir}/scratch/d -m immediate stop; rm -rf ${dir}/scratch' EXIT
    ${source} | ${PROGRAMS}/pg_restore --exit-on-error --no-owner -h ${dir}/scratch -U postgres -d postgres
    ${PROGRAMS}/psql -h ${dir}/scratch -U postgres -c '${CHECK}'`;
  const pipeTest: Side = () => shell(restored(`age -d -i ${key} ${dir}/theirs.age | zstd -q -dc`), env);
  const resticTest: Side = () => shell(restored("restic dump latest bench.dump"), restic);

  process.stdout.write(
    `\n${size_mib} MiB, ${values.rounds} rounds, ${availableParallelism()} cores; restic ${resticVersion()}\n\n`,
  );
  process.stdout.write(
    "| | s | of the other | ratio | CPU s | of the other | MiB stored | of the other | agent's peak MiB | largest of the other |\n",
  );
  process.stdout.write("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  row("backup, against `pg_dump`, `zstd`, `age`", backup, pipe);
  row("restore test, against the same by hand", test, pipeTest);
  row("backup, against restic", backup, resticBackup);
  row("restore test, against restic's", test, resticTest);
}

function row(name: string, ours: Side, theirs: Side): void {
  const own: Measured[] = [];
  const other: Measured[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const runs = [() => own.push(ours()), () => other.push(theirs())];
    for (const run of round % 2 === 0 ? runs : runs.toReversed()) run();
  }
  const of = (side: Measured[], value: (each: Measured) => number): number => median(side.map(value));
  const mib = (side: Measured[]): string => {
    const bytes = of(side, (each) => each.bytes ?? 0);
    return bytes === 0 ? "" : (bytes / 2 ** 20).toFixed(0);
  };
  const seconds = (each: Measured): number => each.seconds;
  const cpu = (each: Measured): number => each.cpu_seconds;
  const cells = [
    name,
    of(own, seconds).toFixed(1),
    of(other, seconds).toFixed(1),
    (of(other, seconds) / of(own, seconds)).toFixed(2),
    of(own, cpu).toFixed(1),
    of(other, cpu).toFixed(1),
    mib(own),
    mib(other),
    Math.max(...own.map(({ own_mib }) => own_mib)).toFixed(0),
    Math.max(...other.map(({ rss_mib }) => rss_mib)).toFixed(0),
  ];
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}

/** Rows like a shop's until the database has that size. */
function fill(database: DatabaseServer, wanted_mib: number): number {
  database.sql("postgres", "create database bench");
  database.sql(
    "bench",
    "create table orders (id bigint primary key, customer int, placed_at timestamptz, status text, total numeric(10, 2), note text, token text)",
  );
  const size = (): number =>
    Number(database.sql("bench", "select pg_database_size('bench') / 1048576").trim());
  for (let from = 0; size() < wanted_mib; from += 500_000) {
    database.sql(
      "bench",
      `insert into orders select n, (random() * 90000)::int, timestamptz '2026-01-01' + random() * interval '300 days',
         (array['pending', 'paid', 'shipped', 'returned', 'cancelled'])[1 + (random() * 4)::int], (random() * 500)::numeric(10, 2),
         (array['amber', 'basalt', 'cedar', 'delta', 'ember'])[1 + (random() * 4)::int] || ' ' || (random() * 1000)::int, md5(random()::text)
       from generate_series(${from + 1}, ${from + 500_000}) n`,
    );
  }
  database.sql("bench", "create index on orders (placed_at); vacuum analyze");
  return size();
}

function bytesUnder(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function resticVersion(): string {
  const line = execFileSync("restic", ["version"], { encoding: "utf8" });
  return /restic ([0-9.]+)/.exec(line)?.[1] ?? "?";
}
