/** `npm run soak`: what it does and takes stands in options.ts. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFrom } from "../../e2e/harness/programs.ts";
import { bundle } from "../../../tools/package/bundle.ts";
import { bundleService } from "../../../tools/test/bundled-service.ts";
import { formatReport, type Report } from "./report.ts";
import { readOptions, type Setup } from "./options.ts";
import { SmallDisk } from "../../../packages/host/test/small-disk.ts";
import { soak } from "./soak.ts";
import { startEmbeddedWorld } from "./worlds/embedded-world.ts";
import { startPatroniWorld } from "./worlds/patroni-world.ts";
import { startReplicasWorld } from "./worlds/replicas-world.ts";
import type { World } from "./worlds/world.ts";

const options = readOptions();

const WORLDS: Record<Setup, (base: string) => Promise<World>> = {
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
  const { setups } = options;
  const weights = setups.reduce((sum, { weight }) => sum + weight, 0);
  const roundsOf = (weight: number): number => Math.ceil((options.rounds * weight) / weights);
  if (options.sideBySide && setups.length > 1)
    reports.push(...(await all(setups.map(({ name, weight }) => soakApart(name, roundsOf(weight))))));
  else {
    await bundlePrograms();
    for (const { name, weight } of setups) {
      const ms = (options.minutes * 60_000 * weight) / weights;
      reports.push(await soakIn(name, { rounds: roundsOf(weight), ms }));
    }
  }
} finally {
  SmallDisk.unmountBelow(base);
  rmSync(base, { recursive: true, force: true });
}

for (const report of reports) process.stdout.write(`${formatReport(report)}\n`);
if (options.report !== undefined) writeFileSync(options.report, `${JSON.stringify(reports, null, 2)}\n`);
process.exit(reports.some(({ violations }) => violations.length > 0) ? 1 : 0);

/** From sources, each start takes three times as long. */
async function bundlePrograms(): Promise<void> {
  startFrom("attestore-server", await bundleService(join(base, "program")));
  const verifier = join(base, "attestore-verify.cjs");
  const source = join(import.meta.dirname, "../../../packages/verifier/src/main.ts");
  writeFileSync(verifier, (await bundle(source, null)).code);
  startFrom("attestore-verify", verifier);
}

async function soakIn(setup: Setup, { rounds, ms }: { rounds: number; ms: number }): Promise<Report> {
  const of = join(base, setup);
  mkdirSync(of);
  const world = await WORLDS[setup](of);
  try {
    return await soak(world, {
      seed: options.seed,
      rounds,
      until_ms: Date.now() + ms,
      stop: stop.signal,
      base: of,
      only: new RegExp(options.only, "i"),
      say: (line) => say(`${setup} ${line}`),
    });
  } finally {
    await world.close();
  }
}

/** In a process of its own, because what it starts finds its directory in the environment. */
async function soakApart(setup: Setup, rounds: number): Promise<Report> {
  const report = join(base, `${setup}.json`);
  const { minutes, seed, only } = options;
  const passedOn = { rounds, minutes, seed, setup, only, report };
  const child = spawn(
    process.execPath,
    [
      "--no-warnings",
      import.meta.filename,
      ...Object.entries(passedOn).map(([name, value]) => `--${name}=${value}`),
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
