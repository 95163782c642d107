import { INVARIANTS, type Invariant } from "./invariants.ts";
import { median, type Growth } from "./memory.ts";

export interface Round {
  fault: string;
  area: string;
  /** The longest time without an acknowledged receipt, from the fault until all is well again. */
  silent_ms: number;
  /** How long the checks after it took. */
  checked_ms: number;
}

export interface Violation {
  round: number;
  fault: string;
  invariant: Invariant | "recovery";
  problem: string;
}

/** What a soak has seen, of one set-up. */
export interface Report {
  setup: string;
  about: string;
  seed: number;
  began_at: string;
  ended_at: string;
  rounds: Round[];
  acknowledged: number;
  checked: Record<Invariant, number>;
  memory: { peaks_mib: Record<string, number>; growths: Growth[] };
  violations: Violation[];
}

/** In Markdown. */
export function formatReport(report: Report): string {
  const { rounds, checked, violations, memory } = report;
  const faults = [...new Set(rounds.map(({ fault }) => fault))].map((fault) => {
    const silent = rounds.filter((round) => round.fault === fault).map(({ silent_ms }) => silent_ms);
    return `| ${fault} | ${silent.length} | ${seconds(median(silent))} | ${seconds(Math.max(...silent))} |`;
  });
  const held = Object.entries(INVARIANTS).map(([invariant, text]) => {
    const broken = violations.filter((one) => one.invariant === invariant).length;
    return `| ${text} | ${checked[invariant as Invariant]} | ${broken} |`;
  });
  const peaks = Object.entries(memory.peaks_mib).map(([kind, mib]) => `${kind} ${mib} MiB`);
  return [
    `${report.setup}: ${report.about}`,
    `seed ${report.seed}, ${report.began_at} to ${report.ended_at}, ${rounds.length} rounds, ${report.acknowledged} receipts acknowledged`,
    "",
    "| fault | rounds | no receipt for, median | longest |",
    "|---|---|---|---|",
    ...faults.toSorted(),
    "",
    "| what has to hold | looked at | violations |",
    "|---|---|---|",
    ...held,
    "",
    paceOf(rounds),
    `most memory: ${peaks.join(", ")}`,
    ...memory.growths.map(
      ({ kind, rounds: of, middle_mib, last_mib }) =>
        `${kind}, ${of} rounds: median ${middle_mib} MiB in the second third, ${last_mib} MiB in the last`,
    ),
    ...violations.map(
      ({ round, fault, invariant, problem }) =>
        `VIOLATION in round ${round} (${fault}), ${invariant}: ${problem}`,
    ),
    "",
  ].join("\n");
}

/** Whether the checks, which look at what only grows, take longer at the end. */
function paceOf(rounds: readonly Round[]): string {
  const third = Math.ceil(rounds.length / 3);
  const checks = (some: readonly Round[]): string => seconds(median(some.map((round) => round.checked_ms)));
  return `checks after a round, median: ${checks(rounds.slice(0, third))} in the first third, ${checks(rounds.slice(-third))} in the last`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
