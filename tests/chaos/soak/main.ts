/**
 * A soak: rounds of faults under load, and after each round a look at whether what
 * docs/reliability.md promises still holds.
 *
 *   npm run soak -- [--rounds 1000] [--minutes N] [--seed N] [--setup embedded,replicas,patroni]
 *     [--side-by-side] [--only REGEXP] [--report FILE]
 *
 * `--setup embedded:3,patroni` gives embedded three times as many rounds as patroni. With
 * `--side-by-side` each set-up is a process of its own.
 *
 * As root, because it mounts small disks. The seed repeats the order of the faults and their
 * lengths; what the processes do in between differs. Exits with 1 if something did not hold.
 */
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startFrom } from "../../e2e/harness/programs.ts";
import { bundle } from "../../../tools/package/bundle.ts";
import { bundleService } from "../../../tools/test/bundled-service.ts";
import { formatReport, type Report } from "./report.ts";
import { SmallDisk } from "./small-disk.ts";
import { soak } from "./soak.ts";
import { startEmbeddedWorld } from "./worlds/embedded-world.ts";
import { startPatroniWorld } from "./worlds/patroni-world.ts";
import { startReplicasWorld } from "./worlds/replicas-world.ts";
import type { World } from "./worlds/world.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "1000" },
    minutes: { type: "string", default: "1000000" },
    seed: { type: "string", default: String(randomInt(2 ** 32)) },
    setup: { type: "string", default: "embedded,replicas,patroni" },
    "side-by-side": { type: "boolean", default: false },
    only: { type: "string", default: "" },
    report: { type: "string" },
  },
});

const WORLDS: Record<string, (base: string) => Promise<World>> = {
  embedded: startEmbeddedWorld,
  replicas: startReplicasWorld,
  patroni: startPatroniWorld,
};

const base = mkdtempSync(join(tmpdir(), "attestore-soak-"));
chmodSync(base, 0o755);
const say = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);
const reports: Report[] = [];
/** The round that runs is the last one. */
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
try {
  const setups = values.setup.split(",").map((each) => {
    const [name = "", weight = "1"] = each.split(":");
    if (!/^[1-9]\d{0,3}$/.test(weight)) throw new Error(`--setup: ${each}: the number is 1 to 9999`);
    return { name, weight: Number(weight) };
  });
  const weights = setups.reduce((sum, { weight }) => sum + weight, 0);
  const roundsOf = (weight: number): number => Math.ceil((Number(values.rounds) * weight) / weights);
  if (values["side-by-side"] && setups.length > 1)
    reports.push(...(await all(setups.map(({ name, weight }) => soakApart(name, roundsOf(weight))))));
  else {
    await bundlePrograms();
    for (const { name, weight } of setups) {
      const ms = (Number(values.minutes) * 60_000 * weight) / weights;
      reports.push(await soakIn(name, { rounds: roundsOf(weight), ms }));
    }
  }
} finally {
  SmallDisk.unmountBelow(base);
  rmSync(base, { recursive: true, force: true });
}

for (const report of reports) process.stdout.write(`${formatReport(report)}\n`);
if (values.report !== undefined) writeFileSync(values.report, `${JSON.stringify(reports, null, 2)}\n`);
process.exit(reports.some(({ violations }) => violations.length > 0) ? 1 : 0);

/** From sources, each start takes three times as long. */
async function bundlePrograms(): Promise<void> {
  startFrom("attestore-server", await bundleService(join(base, "program")));
  const verifier = join(base, "attestore-verify.cjs");
  const source = join(import.meta.dirname, "../../../packages/verifier/src/main.ts");
  writeFileSync(verifier, (await bundle(source, null)).code);
  startFrom("attestore-verify", verifier);
}

async function soakIn(setup: string, { rounds, ms }: { rounds: number; ms: number }): Promise<Report> {
  const start = WORLDS[setup];
  if (start === undefined) throw new Error(`--setup: there is no ${setup}`);
  const of = join(base, setup);
  mkdirSync(of);
  const world = await start(of);
  try {
    return await soak(world, {
      seed: Number(values.seed),
      rounds,
      until_ms: Date.now() + ms,
      stop: stop.signal,
      base: of,
      only: new RegExp(values.only, "i"),
      say: (line) => say(`${setup} ${line}`),
    });
  } finally {
    await world.close();
  }
}

/** In a process of its own, because what it starts finds its directory in the environment. */
async function soakApart(setup: string, rounds: number): Promise<Report> {
  const report = join(base, `${setup}.json`);
  const { minutes, seed, only } = values;
  const options = { rounds: String(rounds), minutes, seed, setup, only, report };
  const child = spawn(
    process.execPath,
    [
      "--no-warnings",
      import.meta.filename,
      ...Object.entries(options).map(([name, value]) => `--${name}=${value}`),
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const end = (): void => void child.kill("SIGTERM");
  stop.signal.addEventListener("abort", end);
  await once(child, "exit");
  stop.signal.removeEventListener("abort", end);
  if (!existsSync(report)) throw new Error(`${setup} ended without a report`);
  return (JSON.parse(readFileSync(report, "utf8")) as Report[])[0]!;
}

/** All of them; where one threw, only once the others have closed what they started. */
async function all<T>(running: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}
