import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { errorCode } from "@attestore/host/errno";
import type { QueryOutcome } from "../../checks/index.ts";
import { describePath } from "./describe-path.ts";
import type { ManifestSummary } from "./manifest.ts";
import { treeManifest } from "./tree-manifest.ts";

export type TreeRequest =
  | { readonly op: "manifest"; readonly tree: string }
  /** What a check asks; see `describePath`. */
  | { readonly op: "describe"; readonly tree: string; readonly path: string };

export type TreeResponse =
  | { readonly ok: true; readonly manifest?: ManifestSummary; readonly outcome?: QueryOutcome }
  /** An errno's name: the tree cannot be read. */
  | { readonly ok: false; readonly code: string };

/**
 * The process that looks at a restored tree, in the place where that lies. One JSON request a line,
 * one JSON response a line, in order.
 */
export async function serveTree(input: Readable, output: Writable): Promise<void> {
  // It is killed where nobody waits any more.
  const { signal } = new AbortController();
  for await (const line of createInterface({ input })) {
    const request = JSON.parse(line) as TreeRequest;
    let response: TreeResponse;
    try {
      response =
        request.op === "manifest"
          ? { ok: true, manifest: await treeManifest(request.tree, signal) }
          : { ok: true, outcome: await describePath(request.tree, request.path, signal) };
    } catch (error) {
      response = { ok: false, code: errorCode(error) ?? "unknown error" };
    }
    output.write(`${JSON.stringify(response)}\n`);
  }
}
