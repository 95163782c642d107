import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const PAGE_BYTES = 4096;
const LOOK_MS = 200;
const GONE_MS = 10_000;
/** Longer than any exec(2) takes; during it a process has no environment. */
const UNDECIDED_MS = 2_000;
/** kthreadd, whose children have none at all. */
const KERNEL = 2;

interface Seen {
  readonly pid: number;
  readonly parent: number;
  readonly isZombie: boolean;
  /** In ticks since boot: together with the pid it identifies a process for good. */
  readonly started: string;
  readonly residentBytes: number;
}

/**
 * The processes of a place that no control group and no process namespace of ours contains: those
 * that we started, what those started, and whatever has the place's mark in its environment. The
 * mark finds a process whose parent went away between two looks.
 */
export class ProcessWatch {
  readonly #mark: string | null;
  readonly #members = new Map<number, string>();
  /** Examined, and not the place's. */
  readonly #others = new Map<number, string>();
  /** Without an environment at the last look: since when. */
  readonly #undecided = new Map<number, { readonly started: string; readonly since: number }>();

  /**
   * `mark`: in the environment of each of its programs and of nothing else; null if descent is
   * enough.
   */
  constructor(mark: string | null) {
    this.#mark = mark;
  }

  /** A process that we started ourselves. */
  add(pid: number): void {
    const seen = read(pid);
    if (seen !== null) this.#members.set(pid, seen.started);
  }

  /**
   * Finds out who they are now: once a parent is gone, its children can no longer be recognised by
   * descent.
   */
  note(): void {
    this.#look();
  }

  /** Waits until together they use more memory than they may; false once it is told to stop. */
  async exceeds(maxBytes: number, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const began = performance.now();
      if (this.#residentBytes(maxBytes) > maxBytes) return true;
      // A host with many processes is not examined without pause.
      const pause = Math.max(LOOK_MS, 4 * (performance.now() - began));
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
    return false;
  }

  /** Ends them all, including those that moved to a session of their own. */
  async killAll(): Promise<void> {
    const until = performance.now() + GONE_MS;
    while (performance.now() < until) {
      const living = this.#look().filter(({ isZombie }) => !isZombie);
      if (living.length === 0) {
        // A process that is just becoming another program may belong to the place.
        if (this.#undecided.size === 0) return;
        await delay(10);
        continue;
      }
      // All of them are stopped first: otherwise a list of processes that fork without end would
      // never be complete.
      for (const { pid } of living) send(pid, "SIGSTOP");
      const stopped = new Set(living.map(({ pid }) => pid));
      const isComplete = this.#look().every(({ pid, isZombie }) => isZombie || stopped.has(pid));
      if (isComplete) for (const { pid } of living) send(pid, "SIGKILL");
      await delay(isComplete ? 10 : 0);
    }
  }

  /** Pages that several processes share count once; this is only checked closely if it matters. */
  #residentBytes(maxBytes: number): number {
    const members = this.#look();
    const atMost = members.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
    if (atMost <= maxBytes) return atMost;
    return members.reduce(
      (sum, { pid, residentBytes }) => sum + (proportionalBytes(pid) ?? residentBytes),
      0,
    );
  }

  #look(): Seen[] {
    const descended = this.#mark === null ? processesBelow(this.#members.keys()) : null;
    const all = descended ?? processes();
    const isOurs = ({ pid, started, parent, isZombie }: Seen): boolean => {
      if (this.#members.get(pid) === started) return true;
      if (this.#members.has(parent)) return true;
      if (this.#mark === null || this.#others.get(pid) === started) return false;
      const environment = environmentOf(pid);
      if (environment?.includes(this.#mark) === true) return true;
      const isKernels = pid === KERNEL || parent === KERNEL;
      if (environment === "" && !isZombie && !isKernels && this.#isUndecided(pid, started)) return false;
      this.#others.set(pid, started);
      return false;
    };
    for (const [pid, started] of this.#members)
      if (all.get(pid)?.started !== started) this.#members.delete(pid);
    for (let before = -1; before !== this.#members.size;) {
      before = this.#members.size;
      for (const each of all.values()) if (isOurs(each)) this.#members.set(each.pid, each.started);
    }
    for (const [pid, { started }] of this.#undecided)
      if (all.get(pid)?.started !== started || this.#others.has(pid) || this.#members.has(pid))
        this.#undecided.delete(pid);
    for (const pid of this.#others.keys()) if (!all.has(pid)) this.#others.delete(pid);
    return [...this.#members.keys()].flatMap((pid) => all.get(pid) ?? []);
  }

  #isUndecided(pid: number, started: string): boolean {
    const now = performance.now();
    const before = this.#undecided.get(pid);
    if (before?.started === started) return now - before.since < UNDECIDED_MS;
    this.#undecided.set(pid, { started, since: now });
    return true;
  }
}

/** The number of a user's threads, which is what a limit of processes counts. */
export function threadsOf(uid: number): number {
  let count = 0;
  for (const pid of pids()) {
    const status = readText(`/proc/${pid}/status`);
    if (Number(/^Uid:\t([0-9]+)/m.exec(status)?.[1] ?? -1) === uid)
      count += Number(/^Threads:\t([0-9]+)/m.exec(status)?.[1] ?? 0);
  }
  return count;
}

function processes(): Map<number, Seen> {
  const found = new Map<number, Seen>();
  for (const pid of pids()) {
    const seen = read(pid);
    if (seen !== null) found.set(pid, seen);
  }
  return found;
}

/**
 * Those processes and all that descend from them, without a look at the rest of the host's
 * processes, which may be thousands. Each thread has its own children (proc(5),
 * /proc/PID/task/TID/children). A child that is missed while others end is found at the next look.
 * Null if the kernel lists no children.
 */
function processesBelow(roots: Iterable<number>): Map<number, Seen> | null {
  if (!existsSync("/proc/thread-self/children")) return null;
  const found = new Map<number, Seen>();
  const queue = [...roots];
  for (const pid of queue) {
    const seen = found.has(pid) ? null : read(pid);
    if (seen === null) continue;
    found.set(pid, seen);
    for (const thread of numbersIn(`/proc/${pid}/task`))
      for (const child of readText(`/proc/${pid}/task/${thread}/children`).split(" "))
        if (child !== "") queue.push(Number(child));
  }
  return found;
}

function pids(): number[] {
  return numbersIn("/proc");
}

/** The names in a directory that are numbers. */
function numbersIn(directory: string): number[] {
  try {
    return readdirSync(directory).map(Number).filter(Number.isInteger);
  } catch {
    // A process that is gone, or a system without /proc.
    return [];
  }
}

/** proc(5), /proc/PID/stat: the program's name, which may contain anything, is in parentheses. */
function read(pid: number): Seen | null {
  const text = readText(`/proc/${pid}/stat`);
  const [state, parent = "", ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (state === undefined || state === "" || rest.length < 20) return null;
  return {
    pid,
    parent: Number(parent),
    isZombie: state === "Z" || state === "X",
    started: rest[17] ?? "",
    residentBytes: Number(rest[19]) * PAGE_BYTES,
  };
}

function proportionalBytes(pid: number): number | null {
  const kilobytes = /^Pss:\s+([0-9]+) kB$/m.exec(readText(`/proc/${pid}/smaps_rollup`))?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}

/**
 * Empty for one that is just becoming another program; null for one that is gone, or not ours to
 * read.
 */
function environmentOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return null;
  }
}

/** Empty for a process that is gone, or that is not ours to read. */
function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone meanwhile.
  }
}
