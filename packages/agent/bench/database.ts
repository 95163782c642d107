/**
 * The shipped executable on a PostgreSQL database: a backup, stored and fsynced, and a restore
 * test. Adjacent runs in alternating order, in Markdown. Two tables:
 *
 * - against others: `pg_dump | zstd | age`, two scripts (restore-by-hand.ts: one that restores the
 *   dump while it comes and asks a check's query, and a careful person's, with `pg_restore --jobs`
 *   from a file and every table counted), and restic. A ratio above 1 means that ours is faster.
 * - what comparing costs: the same restore test without comparing content, objects and privileges
 *   (without-round-trip.ts; the aim is at most 1.4 times), and the same also without a profile and
 *   without looking at constraints and indexes (without-comparison.ts).
 *
 *   node packages/agent/bench/database.ts [--size-mib 2048] [--tables 1] [--rounds 3] [--dir DIR]
 *     [--only backup|streamed|careful|round-trip|cost|restic]…
 *
 * Ratios are those of adjacent runs: their median, smallest and largest. Processor time is that of
 * all processes, also of the scratch server.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { startDatabaseServer } from "../../../tests/e2e/harness/database.ts";
import { fillShop } from "./fill-shop.ts";
import { median } from "./median.ts";
import { carefullyByHand, PROGRAMS, ROW_COUNTS, streamedByHand } from "./restore-by-hand.ts";
import { buildLikeShipped, buildShipped } from "./shipped.ts";
import { shell, timed, type Timed } from "./timed.ts";

const { values } = parseArgs({
  options: {
    "size-mib": { type: "string", default: "2048" },
    tables: { type: "string", default: "1" },
    rounds: { type: "string", default: "3" },
    only: {
      type: "string",
      multiple: true,
      default: ["backup", "streamed", "careful", "restic", "round-trip", "cost"],
    },
    dir: { type: "string", default: tmpdir() },
  },
});

/** The first query of a check that a person would write; each side asks it. */
const CHECK = "select count(*) as n from orders";

/** What a restore test is measured with and without. */
const COSTS = [
  { only: "round-trip", name: "comparing what came back", entry: "without-round-trip" },
  { only: "cost", name: "comparing, profile, constraints and indexes", entry: "without-comparison" },
] as const;

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
  const size_mib = fillShop(server, Number(values["size-mib"]), Number(values.tables));
  const counts = join(dir, "counts");
  writeFileSync(counts, server.sql("bench", ROW_COUNTS).replaceAll("|", " "));
  const { agent } = await buildShipped(dir);
  const key = join(dir, "key");
  const identity = await generateX25519Identity();
  writeFileSync(key, `${identity}\n`, { mode: 0o600 });
  const recipient = await identityToRecipient(identity);
  const ours = makeRoot(agent, "root");
  const { env, root } = ours;
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
  const test = testOf(ours);
  const scratch = join(dir, "scratch");
  const theirs = `age -d -i ${key} ${dir}/theirs.age | zstd -q -dc`;
  const streamed: Side = () => shell(streamedByHand(scratch, theirs, CHECK), env);
  const careful: Side = () =>
    shell(carefullyByHand(scratch, theirs, CHECK, { jobs: availableParallelism(), counts }), env);
  const resticTest: Side = () =>
    shell(streamedByHand(scratch, "restic dump latest bench.dump", CHECK), restic);
  const isWanted = (name: string): boolean => values.only.includes(name);

  backup();
  pipe();
  // The first test of a check also tries it on ruined copies.
  test();
  say(
    `\n${size_mib} MiB in ${values.tables} tables of orders, ${values.rounds} rounds, ${availableParallelism()} cores; restic ${resticVersion()}\n`,
  );
  say(
    "| | ratio | from, to | s | of the other | CPU s | of the other | MiB stored | of the other | agent's peak MiB | largest of the other |",
  );
  say("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
  if (isWanted("backup")) row("backup, against `pg_dump`, `zstd`, `age`", backup, pipe);
  if (isWanted("streamed")) row("restore test, against a script that streams", test, streamed);
  if (isWanted("careful")) row("restore test, against a careful person's script", test, careful);
  if (isWanted("restic")) {
    row("backup, against restic", backup, resticBackup);
    row("restore test, against restic's", test, resticTest);
  }
  const agents = COSTS.filter(({ only }) => isWanted(only));
  if (agents.length === 0) return;
  say(
    "\n| | times without | from, to | s | without | CPU s | without | MiB stored | without | agent's peak MiB | largest without |",
  );
  say("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const { name, entry } of agents) {
    const without = join(dir, entry);
    await buildLikeShipped(join(import.meta.dirname, `${entry}.ts`), without);
    const other = makeRoot(without, `root-${entry}`);
    timed([without, "backup", "--source", "bench"], other.env);
    const testWithout = testOf(other);
    testWithout();
    row(name, test, testWithout, (own, others) => own / others);
  }
}

interface Root {
  readonly agent: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

function makeRoot(agent: string, name: string): Root {
  const root = join(dir, name);
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
  return { agent, root, env };
}

function testOf({ agent, env }: Root): Side {
  return () => timed([agent, "restore-test", "--source", "bench"], env);
}

function row(
  name: string,
  ours: Side,
  theirs: Side,
  ratioOf = (own: number, other: number): number => other / own,
): void {
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
  const ratios = own.map((each, round) => ratioOf(each.seconds, other[round]?.seconds ?? Number.NaN));
  const cells = [
    name,
    median(ratios).toFixed(2),
    `${Math.min(...ratios).toFixed(2)}, ${Math.max(...ratios).toFixed(2)}`,
    of(own, seconds).toFixed(1),
    of(other, seconds).toFixed(1),
    of(own, cpu).toFixed(1),
    of(other, cpu).toFixed(1),
    mib(own),
    mib(other),
    Math.max(...own.map(({ own_mib }) => own_mib)).toFixed(0),
    Math.max(...other.map(({ rss_mib }) => rss_mib)).toFixed(0),
  ];
  say(`| ${cells.join(" | ")} |`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
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
