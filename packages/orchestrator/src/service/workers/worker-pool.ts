import cluster, { type Worker } from "node:cluster";
import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@attestore/host/errno";
import type { Logger } from "../../platform/logging/logger.ts";
import { Peer, type Procedures } from "../../platform/workers/peer.ts";
import { WORKER_OPTION, type WorkerStart } from "./protocol.ts";
import { watchPeer } from "./watch-peer.ts";
import type { End } from "./worker-not-started.ts";

/** A worker that lived so long is replaced at once. */
const LIVED_MS = 10_000;
const BACKOFF_MS = { first: 100, most: 10_000 };
/** The time that a worker may need to end after everything that it waits for had its time. */
const END_WITHIN_MS = 30_000;
/** The key token refused the PIN: tried again and again, it would lock itself (main.ts). */
const PIN_REFUSED = 3;

/** One process. */
export interface Running {
  worker: Worker;
  peer: Peer;
  /** Resolves to whether it accepts requests; false if it has ended before. */
  listens: Promise<boolean>;
  ended: Promise<End>;
}

/** A worker's number, and the processes that have it: two while one replaces the other. */
interface Slot {
  number: number;
  running: Running | null;
  replacement: Running | null;
}

export interface WorkerPoolOptions {
  count: number;
  /** Time for requests that are in flight when a worker stops. */
  shutdown_s: number;
  log: Logger;
  startOf: (worker: number, isFirst: boolean) => WorkerStart;
  /** Procedures that the process may call. */
  procedures: (peer: () => Peer) => Procedures;
  onEnded: (running: Running) => void;
  /** No worker can be started any longer. */
  onFailed: (exitCode: number) => void;
}

/** Keeps that many workers running. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #slots: Slot[];
  readonly #all = new Set<Running>();
  #isStopping = false;
  #replacing: Promise<void> | null = null;
  #isAskedAgain = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    this.#slots = Array.from({ length: options.count }, (_, index) => ({
      number: index + 1,
      running: null,
      replacement: null,
    }));
    cluster.setupPrimary({ args: ["serve", WORKER_OPTION] });
  }

  /** Of each worker the process that takes requests, not one that is on its way out. */
  get peers(): Peer[] {
    return this.#slots.flatMap(({ running }) => running?.peer ?? []);
  }

  /**
   * The first worker creates everything that a first start creates. Then the others start, all at
   * once. Resolves when each of them accepts requests or has ended once.
   * @returns how the first worker ended, if it did before it accepted requests
   */
  async start(): Promise<End | null> {
    const [first, ...others] = this.#slots;
    if (first === undefined) return null;
    const running = this.#fork(first.number, true);
    if (!(await running.listens)) return running.ended;
    void this.#keep(first, running);
    const starting = others.map((slot) => {
      const other = this.#fork(slot.number);
      void this.#keep(slot, other);
      return other.listens;
    });
    await Promise.all(starting);
    return null;
  }

  /**
   * Replaces all workers, one after the other: the next one stops only when another has taken its
   * place. Asked again meanwhile, it begins again afterwards.
   */
  replaceAll(): Promise<void> {
    this.#isAskedAgain = this.#replacing !== null;
    this.#replacing ??= this.#replaceAll().finally(() => {
      this.#replacing = null;
    });
    return this.#replacing;
  }

  /** Stops all workers, and kills those that do not end in time. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#all].map((running) => this.#end(running)));
  }

  async #replaceAll(): Promise<void> {
    const { log } = this.#options;
    do {
      this.#isAskedAgain = false;
      log.info({ workers: this.#slots.length }, "replacing the workers one by one");
      for (const slot of this.#slots) {
        if (this.#isStopping) return;
        // Whatever keeps one from starting would keep the others too.
        if (!(await this.#replace(slot))) return;
      }
    } while (this.#isAskedAgain);
    log.info({ finishing: this.#all.size - this.peers.length }, "the workers were replaced");
  }

  /** @returns whether another process has the slot now */
  async #replace(slot: Slot): Promise<boolean> {
    const replacement = this.#fork(slot.number);
    slot.replacement = replacement;
    const listens = await replacement.listens;
    slot.replacement = null;
    const old = slot.running;
    if (listens) void this.#keep(slot, replacement);
    else
      this.#options.log.error(
        { worker: slot.number },
        "a worker was not replaced: the new one did not start",
      );
    if (listens && old !== null) {
      old.peer.tell("stop", { isReplaced: true });
      // Running uploads and downloads continue beside the next worker.
      await Promise.race([old.ended, delay(this.#options.shutdown_s * 1000, undefined, { ref: false })]);
    }
    // It ended while its replacement was starting, which did not come up either.
    if (!listens && old === null && !this.#isStopping) void this.#keep(slot, this.#fork(slot.number));
    return listens;
  }

  async #end({ peer, worker, ended }: Running): Promise<void> {
    peer.tell("stop", { isReplaced: false });
    const within_ms = this.#options.shutdown_s * 1000 + END_WITHIN_MS;
    const late = delay(within_ms, true, { ref: false });
    if (await Promise.race([ended.then(() => false), late])) {
      this.#options.log.warn({ pid: worker.process.pid, within_ms }, "a worker did not stop in time");
      worker.process.kill("SIGKILL");
    }
    await ended;
  }

  /** Starts another process whenever the slot's own ends, with growing pauses. */
  async #keep(slot: Slot, first: Running): Promise<void> {
    let pause_ms = 0;
    for (let running = first; ; running = this.#fork(slot.number)) {
      slot.running = running;
      const since = performance.now();
      const { code, signal } = await running.ended;
      // Another process has its place.
      if (slot.running !== running) return;
      slot.running = null;
      if (this.#isStopping) return;
      this.#options.log.error(
        { worker: slot.number, exit_code: code, signal },
        "a worker ended unexpectedly; starting another",
      );
      if (code === PIN_REFUSED) return this.#options.onFailed(code);
      if (slot.replacement !== null) return;
      pause_ms =
        performance.now() - since > LIVED_MS
          ? 0
          : Math.min(pause_ms * 2 || BACKOFF_MS.first, BACKOFF_MS.most);
      await delay(pause_ms);
      if (this.#isStopping || slot.replacement !== null || slot.running !== null) return;
    }
  }

  #fork(number: number, isFirst = false): Running {
    const { startOf, onEnded } = this.#options;
    const worker = cluster.fork();
    const listening = Promise.withResolvers<boolean>();
    const toWorker = (): Peer => peer;
    const procedures = this.#options.procedures(toWorker);
    const peer: Peer = new Peer((message) => void worker.process.send(message, () => undefined), {
      ...procedures,
      ready: () => {
        procedures["ready"]?.(null as never);
        peer.tell("start", startOf(number, isFirst));
      },
      listening: () => listening.resolve(true),
    });
    worker.on("message", (message) => peer.take(message));
    // From now on: a process may also stand still before it is ready.
    const unwatch = watchPeer(peer, (silent_ms) => {
      this.#options.log.error(
        { worker: number, pid: worker.process.pid, silent_ms },
        "a worker no longer answers, and is killed",
      );
      worker.process.kill("SIGKILL");
    });
    const ended = new Promise<End>((resolve) => {
      const end = (code: number | null, signal: string | null): void => {
        if (!this.#all.delete(running)) return;
        unwatch();
        peer.end();
        onEnded(running);
        listening.resolve(false);
        resolve({ code, signal });
      };
      worker.once("exit", end);
      // It could not be started.
      worker.on("error", (error) => {
        this.#options.log.error({ worker: number, reason: errorMessage(error) }, "a worker failed");
        if (worker.process.pid === undefined) end(null, null);
      });
    });
    const running: Running = { worker, peer, listens: listening.promise, ended };
    this.#all.add(running);
    return running;
  }
}
