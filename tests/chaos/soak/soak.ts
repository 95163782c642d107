import { descendants } from "../../e2e/harness/processes.ts";
import { passes } from "./faults/fault.ts";
import { Invariants } from "./invariants.ts";
import { Load } from "./load.ts";
import { Memory } from "./memory.ts";
import { Random } from "./random.ts";
import { seconds, type Report, type Round, type Violation } from "./report.ts";
import type { World } from "./worlds/world.ts";

export interface SoakOptions {
  seed: number;
  rounds: number;
  /** No round begins after that. */
  until_ms: number;
  /** No round begins once it is aborted. */
  stop: AbortSignal;
  base: string;
  /** Only faults whose name matches. */
  only: RegExp;
  say: (line: string) => void;
}

/** Rounds of faults in one world. Ends early if something does not recover. */
export async function soak(world: World, options: SoakOptions): Promise<Report> {
  const { seed, say } = options;
  const random = new Random(seed);
  const began_at = new Date().toISOString();
  const rounds: Round[] = [];
  const violations: Violation[] = [];
  const memory = new Memory();
  let fault = "none";
  const violate = (invariant: Violation["invariant"], problem: string): void => {
    violations.push({ round: rounds.length, fault, invariant, problem });
    say(`VIOLATION (${invariant}): ${problem}`);
    for (const { talk } of world.replicas) say(talk().slice(-6000));
  };
  const load = await Load.start(world, options.base);
  const invariants = new Invariants(world, load, options.base, violate);
  try {
    const all = world.faults(load.host).filter(({ name }) => options.only.test(name));
    if (all.length === 0) throw new Error("no fault has such a name");
    await load.recovered();
    for (const next of passes(all, random)) {
      if (rounds.length >= options.rounds || Date.now() >= options.until_ms || options.stop.aborted) break;
      fault = next.name;
      load.gap.begin();
      try {
        await next.strike(random);
        await load.recovered();
      } catch (error) {
        violate("recovery", error instanceof Error ? error.message : String(error));
        say(load.host.talk().slice(-2000));
        break;
      }
      const silent_ms = load.gap.end();
      const round: Round = { fault, area: next.area, silent_ms: Math.round(silent_ms), checked_ms: 0 };
      rounds.push(round);
      const checksBegan = performance.now();
      await invariants.afterRound();
      round.checked_ms = Math.round(performance.now() - checksBegan);
      takeMemory(memory, world, load);
      const took = { silence: seconds(silent_ms), checks: seconds(round.checked_ms) };
      say(`${rounds.length}. ${fault}: ${took.silence} without a receipt, checks ${took.checks}`);
    }
    fault = "at the end";
    await load.stop().catch((error: Error) => violate("recovery", error.message));
    await invariants.atEnd();
    invariants.counts.memory = memory.growths().length;
    for (const { kind, isFlat, middle_mib, last_mib } of memory.growths())
      if (!isFlat) violate("memory", `${kind} grew from ${middle_mib} to ${last_mib} MiB`);
  } finally {
    await load.close();
  }
  return {
    setup: world.name,
    about: world.about,
    seed,
    began_at,
    ended_at: new Date().toISOString(),
    rounds,
    acknowledged: load.acknowledged,
    checked: invariants.counts,
    memory: { peaks_mib: memory.peaks(), growths: memory.growths() },
    violations,
  };
}

function takeMemory(memory: Memory, { replicas }: World, { host }: Load): void {
  for (const server of replicas) {
    const pid = server.pid() ?? NaN;
    const workers = descendants(pid).filter(({ command }) => command.includes("serve --worker"));
    memory.take(workers.length === 0 ? "service" : "primary", [pid]);
    memory.take(
      "worker",
      workers.map((one) => one.pid),
    );
  }
  memory.take("agent", [host.pid]);
}
