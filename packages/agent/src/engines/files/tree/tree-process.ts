import type { QueryOutcome } from "../../../checks/index.ts";
import { AnsweringChild } from "../../../processes/answering-child.ts";
import { endedWith } from "../../../processes/child.ts";
import { RunError } from "../../../errors/run-error.ts";
import { TREE_COMMAND } from "../../../sandboxes/isolation/commands.ts";
import type { Place } from "../../../sandboxes/place.ts";
import { treeTooLarge } from "./too-large.ts";
import type { TreeRuin } from "./ruin.ts";
import { type ManifestLimits, TREE_TOO_LARGE, type TreeSummary } from "./tree-manifest.ts";
import type { TreeRequest, TreeResponse } from "./tree-child.ts";

/**
 * A process that looks at a restored tree for us, in the place of that tree; see tree-child.ts. It
 * takes one request at a time.
 */
export class TreeProcess {
  readonly #tree: string;
  readonly #child: AnsweringChild<TreeRequest, TreeResponse>;

  constructor(place: Place, tree: string, signal: AbortSignal) {
    this.#tree = tree;
    const [command = "", ...args] = place.self;
    this.#child = new AnsweringChild({
      start: () => place.start({ command, args: [...args, TREE_COMMAND], signal, stopSignal: "SIGKILL" }),
      whyEnded: (exit) =>
        new RunError(
          "sandbox_failed",
          `the process that inspects the restored tree ended with ${endedWith(exit)}`,
        ),
      signal,
    });
  }

  /**
   * @throws RunError `sandbox_failed` if the tree cannot be read; RestoreRefused if it is larger
   * than the limits say.
   */
  async manifest(limits?: ManifestLimits): Promise<TreeSummary> {
    const response = await this.#child.ask({
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
    const response = await this.#child.ask({ op: "describe", tree: this.#tree, path, ruin }, timeout_s);
    if (response === null) return null;
    if (response.ok && response.outcome !== undefined) return response.outcome;
    throw unreadable(response);
  }

  close(): Promise<void> {
    return this.#child.close();
  }
}

function unreadable(response: TreeResponse | null): RunError {
  const code = response?.ok === false ? response.code : "no answer";
  return new RunError("sandbox_failed", `the restored tree cannot be read (${code})`);
}
