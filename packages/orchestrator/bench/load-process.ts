/** The process of load.ts, and what its load costs a service. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { treeSeconds } from "./cpu-time.ts";
import type { LoadOrder, LoadResult } from "./load.ts";
import type { Measured } from "./table.ts";

export class LoadProcess {
  readonly #child = fork(join(import.meta.dirname, "load.ts"), {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });

  /** CPU time is that of the process `pid` with all that it started, and of its PostgreSQL. */
  async measure(pid: number | null | undefined, order: LoadOrder): Promise<Measured> {
    this.#child.send(order);
    await told(this.#child); // the clock starts
    const before = treeSeconds(pid ?? 0);
    const result = (await told(this.#child)) as LoadResult;
    const after = treeSeconds(pid ?? 0);
    const us = (seconds: number): number => (seconds * 1e6) / result.receipts;
    return {
      rate: result.receipts / result.seconds,
      p50_ms: result.p50_ms,
      p99_ms: result.p99_ms,
      client_us: us(result.cpu_s),
      server_us: us(after.others - before.others),
      postgres_us: us(after.postgres - before.postgres),
      sample: result.sample,
    };
  }

  end(): void {
    this.#child.kill();
  }
}

/** What a process of the benchmark says next. */
export function told(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const message = (what: unknown): void => {
      child.off("exit", ended);
      resolve(what);
    };
    const ended = (): void => reject(new Error("a process of the benchmark ended"));
    child.once("message", message);
    child.once("exit", ended);
  });
}
