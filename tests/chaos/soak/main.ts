/**
 * A soak: rounds of faults under load, and after each round a look at whether what
 * docs/reliability.md promises still holds.
 *
 *   npm run soak -- [--rounds 1000] [--minutes N] [--seed N] [--setup embedded,replicas,patroni]
 *     [--side-by-side] [--only REGEXP] [--report FILE]
 *
 * `--setup embedded:3,patroni` gives embedded three times as many rounds as patroni.
 *
 * As root, because it mounts small disks. The seed repeats the order of the faults and their
 * lengths; what the processes do in between differs. Exits with 1 if something did not hold.
 */
import { randomInt } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
  // From sources, each start takes three times as long.
  startFrom("attestore-server", await bundleService(join(base, "program")));
  const verifier = join(base, "attestore-verify.cjs");
  const source = join(import.meta.dirname, "../../../packages/verifier/src/main.ts");
  writeFileSync(verifier, (await bundle(source, null)).code);
  startFrom("attestore-verify", verifier);
  const setups = values.setup.split(",").map((each) => {
    const [name = "", weight = "1"] = each.split(":");
    if (!/^[1-9]\d{0,3}$/.test(weight)) throw new Error(`--setup: ${each}: the number is 1 to 9999`);
    return { name, weight: Number(weight) };
  });
  const weights = setups.reduce((sum, { weight }) => sum + weight, 0);
  const run = ({ name, weight }: (typeof setups)[number]): Promise<Report> =>
    soakIn(name, {
      rounds: Math.ceil((Number(values.rounds) * weight) / weights),
      ms: Number(values.minutes) * 60_000 * (values["side-by-side"] ? 1 : weight / weights),
    });
  if (values["side-by-side"]) reports.push(...(await all(setups.map(run))));
  else for (const setup of setups) reports.push(await run(setup));
} finally {
  SmallDisk.unmountBelow(base);
  rmSync(base, { recursive: true, force: true });
}

for (const report of reports) process.stdout.write(`${formatReport(report)}\n`);
if (values.report !== undefined) writeFileSync(values.report, `${JSON.stringify(reports, null, 2)}\n`);
process.exit(reports.some(({ violations }) => violations.length > 0) ? 1 : 0);

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

/** All of them; where one threw, only once the others have closed what they started. */
async function all<T>(running: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(running);
  return Promise.all(running);
}
