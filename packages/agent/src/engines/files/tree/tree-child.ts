import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { errorCode } from "@attestore/host/errno";
import type { QueryOutcome } from "../../../checks/index.ts";
import { describePath } from "./describe-path.ts";
import type { TreeRuin } from "./ruin.ts";
import { type ManifestLimits, treeManifest, type TreeSummary } from "./tree-manifest.ts";

export type TreeRequest =
  | { readonly op: "manifest"; readonly tree: string; readonly limits?: ManifestLimits }
  /** A check's question; see `describePath`. */
  | {
      readonly op: "describe";
      readonly tree: string;
      readonly path: string;
      readonly ruin: TreeRuin | null;
    };

export type TreeResponse =
  | { readonly ok: true; readonly manifest?: TreeSummary; readonly outcome?: QueryOutcome }
  /** The name of an errno: the tree cannot be read. */
  | { readonly ok: false; readonly code: string };

/**
 * Runs in the process that looks at a restored tree, in the place of that tree. Each request is one
 * line of JSON, and so is each response. They come in the same order.
 */
export async function serveTree(input: Readable, output: Writable): Promise<void> {
  // If nobody waits for it any longer, this process is killed.
  const { signal } = new AbortController();
  for await (const line of createInterface({ input })) {
    const request = JSON.parse(line) as TreeRequest;
    let response: TreeResponse;
    try {
      response =
        request.op === "manifest"
          ? { ok: true, manifest: await treeManifest(request.tree, signal, request.limits) }
          : { ok: true, outcome: await describePath(request.tree, request.path, signal, request.ruin) };
    } catch (error) {
      response = { ok: false, code: errorCode(error) ?? "unknown error" };
    }
    output.write(`${JSON.stringify(response)}\n`);
  }
}
