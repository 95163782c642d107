import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import type { QueryOutcome } from "../../checks/index.ts";
import { type Child, endedWith } from "../../processes/child.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { TREE_COMMAND } from "../../sandboxes/isolation/commands.ts";
import type { Place } from "../../sandboxes/place.ts";
import { treeTooLarge } from "./too-large.ts";
import type { TreeRuin } from "./ruin.ts";
import { type ManifestLimits, TREE_TOO_LARGE, type TreeSummary } from "./tree-manifest.ts";
import type { TreeRequest, TreeResponse } from "./tree-child.ts";

/**
 * A process that looks at a restored tree for us, in the place of that tree; see tree-child.ts. It
 * takes one request at a time.
 */
export class TreeProcess {
  readonly #place: Place;
  readonly #tree: string;
  readonly #signal: AbortSignal;
  #running: { readonly child: Child; readonly lines: Interface } | null = null;

  constructor(place: Place, tree: string, signal: AbortSignal) {
    this.#place = place;
    this.#tree = tree;
    this.#signal = signal;
  }

  /**
   * @throws RunError `sandbox_failed` if the tree cannot be read; RestoreRefused if it is larger
   * than the limits say.
   */
  async manifest(limits?: ManifestLimits): Promise<TreeSummary> {
    const response = await this.#request({
      op: "manifest",
      tree: this.#tree,
      ...(limits === undefined ? {} : { limits }),
    });
    if (response?.ok === true && response.manifest !== undefined) return response.manifest;
    if (response?.ok === false && response.code === TREE_TOO_LARGE)
      throw treeTooLarge(limits?.logicalBytes ?? 0);
    throw unreadable(response);
  }

  /**
   * Null if it took longer than that.
   * @throws RunError
   */
  async describe(
    path: string,
    timeout_s: number,
    ruin: TreeRuin | null = null,
  ): Promise<QueryOutcome | null> {
    const response = await this.#request({ op: "describe", tree: this.#tree, path, ruin }, timeout_s);
    if (response === null) return null;
    if (response.ok && response.outcome !== undefined) return response.outcome;
    throw unreadable(response);
  }

  async close(): Promise<void> {
    const running = this.#running;
    this.#running = null;
    await running?.child.stop();
  }

  async #request(request: TreeRequest, timeout_s?: number): Promise<TreeResponse | null> {
    const { child, lines } = (this.#running ??= await this.#start());
    const waiting = new AbortController();
    const timer = timeout_s === undefined ? undefined : setTimeout(() => waiting.abort(), timeout_s * 1000);
    try {
      const line = once(lines, "line", { signal: waiting.signal }).then(([text]) => String(text));
      const end = child.exited.then((exit) => {
        throw new RunError(
          "sandbox_failed",
          `the process that inspects the restored tree ended with ${endedWith(exit)}`,
        );
      });
      // Nobody waits for the one that comes second.
      for (const each of [line, end]) each.catch(() => undefined);
      child.stdin.write(`${JSON.stringify(request)}\n`);
      return JSON.parse(await Promise.race([line, end])) as TreeResponse;
    } catch (error) {
      stopIfAborted(this.#signal);
      if (!waiting.signal.aborted) throw error;
      await this.close();
      return null;
    } finally {
      clearTimeout(timer);
      waiting.abort();
    }
  }

  async #start(): Promise<{ child: Child; lines: Interface }> {
    const [command = "", ...args] = this.#place.self;
    const child = await this.#place.start({
      command,
      args: [...args, TREE_COMMAND],
      signal: this.#signal,
      stopSignal: "SIGKILL",
    });
    return { child, lines: createInterface({ input: child.stdout }) };
  }
}

function unreadable(response: TreeResponse | null): RunError {
  const code = response?.ok === false ? response.code : "no answer";
  return new RunError("sandbox_failed", `the restored tree cannot be read (${code})`);
}
