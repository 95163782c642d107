import { readFileSync } from "node:fs";

const MIB = 1024 ** 2;
const PAGE = 4096;
/** A process that lived for fewer rounds says nothing about growth. */
const LEAST_ROUNDS = 30;
/** What the collector leaves lying at one time and not at another. */
const NOISE_MIB = 48;

export interface Growth {
  kind: string;
  pid: number;
  rounds: number;
  /** Medians of the second and the last third of its rounds. */
  middle_mib: number;
  last_mib: number;
  isFlat: boolean;
}

/** Resident memory of processes, round after round. */
export class Memory {
  readonly #samples = new Map<number, { kind: string; mib: number[] }>();

  take(kind: string, pids: readonly number[]): void {
    for (const pid of pids) {
      const mib = residentMib(pid);
      if (mib === null) continue;
      const of = this.#samples.get(pid) ?? { kind, mib: [] };
      of.mib.push(mib);
      this.#samples.set(pid, of);
    }
  }

  /** The most that any process of each kind had. */
  peaks(): Record<string, number> {
    const peaks: Record<string, number> = {};
    for (const { kind, mib } of this.#samples.values()) peaks[kind] = Math.max(peaks[kind] ?? 0, ...mib);
    return peaks;
  }

  /** Of those that lived long enough. */
  growths(): Growth[] {
    return [...this.#samples].flatMap(([pid, { kind, mib }]) => {
      if (mib.length < LEAST_ROUNDS) return [];
      const third = Math.floor(mib.length / 3);
      const middle = median(mib.slice(third, 2 * third));
      const last = median(mib.slice(2 * third));
      const isFlat = last <= middle * 1.25 + NOISE_MIB;
      return [{ kind, pid, rounds: mib.length, middle_mib: middle, last_mib: last, isFlat }];
    });
  }
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? NaN;
}

function residentMib(pid: number): number | null {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    return Math.round((pages * PAGE) / MIB);
  } catch {
    return null; // It has ended.
  }
}
