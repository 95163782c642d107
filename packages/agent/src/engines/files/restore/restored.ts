import type { CheckOutcome } from "@attestore/proof";
import { digestCheck, evaluateCheck, formatRow, type QueryOutcome } from "../../../checks/index.ts";
import { stopIfAborted } from "../../../errors/run-error.ts";
import type { Place } from "../../../sandboxes/place.ts";
import { filesFloors, withFilesLoss } from "./files-loss.ts";
import type {
  ContentComparison,
  FoundProfile,
  InferredContext,
  QueryLimits,
  Restored,
  Ruined,
  RuinLimits,
} from "../../engine.ts";
import type { Child } from "../../../processes/child.ts";
import { runCheckProgram } from "../../run-check-program.ts";
import type { ArchivedAttributes } from "../attributes/attribute-digests.ts";
import { compareAttributes } from "../attributes/compare-attributes.ts";
import { readAttributes } from "../attributes/read-attributes.ts";
import { ruinTree, type TreeRuin } from "../tree/ruin.ts";
import { countXattrs, signedAttributes } from "../attributes/signed-attributes.ts";
import { NOTHING_UNSET, type UnsetAttributes } from "../tar/tar-warnings.ts";
import type { ManifestLimits, TreeSummary } from "../tree/tree-manifest.ts";
import { TreeProcess } from "../tree/tree-process.ts";

/** The archive of one of our backups, which was extracted. */
export interface ExtractedArchive {
  /** What the archive holds, whatever the sandbox could set of it. */
  readonly attributes: ArchivedAttributes;
  readonly unset: UnsetAttributes;
}

export class RestoredFiles implements Restored {
  readonly #place: Place;
  readonly #tree: string;
  readonly #looker: TreeProcess;
  readonly #archive: ExtractedArchive | null;
  #summary: TreeSummary | null = null;

  constructor(place: Place, tree: string, signal: AbortSignal, archive: ExtractedArchive | null = null) {
    this.#archive = archive;
    this.#place = place;
    this.#tree = tree;
    this.#looker = new TreeProcess(place, tree, signal);
  }

  /** A tree has no schema. Its manifest tells whether it is the same tree. */
  fingerprint(): Promise<null> {
    return Promise.resolve(null);
  }

  /** The query is a path in the tree, or `.` for all of it. The row comes from `describePath`. */
  query(path: string, limits: QueryLimits): Promise<QueryOutcome> {
    return this.#describe(path, limits);
  }

  ruin(path: string, { timeout_s, budget_ms, signal }: RuinLimits): Promise<readonly Ruined[]> {
    const deadline = performance.now() + budget_ms;
    return ruinTree(path, async (ruin) => {
      const left_s = Math.min(timeout_s, (deadline - performance.now()) / 1000);
      return left_s < 0.001
        ? { kind: "timeout", after_s: 0 }
        : this.#describe(path, { timeout_s: left_s, signal }, ruin);
    });
  }

  async #describe(
    path: string,
    { timeout_s, signal }: QueryLimits,
    ruin: TreeRuin | null = null,
  ): Promise<QueryOutcome> {
    try {
      const row = await this.#looker.describe(path, timeout_s, ruin);
      return row ?? { kind: "timeout", after_s: timeout_s };
    } catch (error) {
      stopIfAborted(signal);
      throw error;
    }
  }

  /**
   * Reads every byte of the tree.
   * @throws RunError
   */
  async manifest(limits?: ManifestLimits): Promise<TreeSummary> {
    this.#summary = await this.#looker.manifest(limits);
    return this.#summary;
  }

  startCommand(command: readonly string[], signal: AbortSignal): Promise<Child> {
    return runCheckProgram(this.#place, this.#tree, command, signal);
  }

  /**
   * Reads every byte, and requires exactly what was archived. A tree without files proves nothing.
   * Files that somebody removed before the backup are not noticed here.
   */
  async inferredChecks({ metadata, seen, signal }: InferredContext): Promise<readonly CheckOutcome[]> {
    const started = performance.now();
    const found = await this.manifest();
    stopIfAborted(signal);
    const duration_ms = performance.now() - started;
    const { manifest_sha256: expected, files } = metadata;
    const count = Number.isSafeInteger(files) ? `files = ${String(files)} and files > 0` : "files > 0";
    const expect = [count, ...filesFloors(seen)].join(" and ");
    return [
      digestCheck({
        name: "manifest",
        expectedSha256: typeof expected === "string" && /^[0-9a-f]{64}$/.test(expected) ? expected : "",
        observedSha256: found.sha256,
        duration_ms,
      }),
      withFilesLoss(
        seen,
        found,
        evaluateCheck(
          { id: "inferred:files", query: "how many files and bytes the restored tree holds", expect },
          {
            kind: "rows",
            rows: [
              formatRow([
                ["files", found.files],
                ["bytes", found.bytes],
              ]),
            ],
          },
          duration_ms,
        ),
      ),
    ];
  }

  /**
   * Compares times, owners, ACLs and extended attributes. Files that their owner may not read were
   * made readable when the manifest was computed, which changes none of these.
   */
  async compareContent({ metadata, key, budget_ms, signal }: ContentComparison): Promise<CheckOutcome[]> {
    const signed = signedAttributes(metadata);
    if (signed === null) return [];
    const started = performance.now();
    const { times } = this.#summary ?? (await this.manifest());
    const needsTar = signed.acls.count + countXattrs(signed) > 0;
    const others = needsTar ? await readAttributes(this.#place, this.#tree, { budget_ms, signal }) : null;
    const duration_ms = performance.now() - started;
    const { attributes: archived = null, unset = NOTHING_UNSET } = this.#archive ?? {};
    return [compareAttributes(signed, { times, archived, others, unset, duration_ms }, key)];
  }

  /** The manifest looked at every file anyway. */
  async profile(): Promise<FoundProfile> {
    const { profile } = this.#summary ?? (await this.manifest());
    return { tables: [], left_out: 0, ...(profile === null ? {} : { files: profile }) };
  }

  async close(): Promise<void> {
    await this.#looker.close();
    await this.#place.close();
  }
}
