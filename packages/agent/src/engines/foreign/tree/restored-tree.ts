import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck, formatRow, type QueryOutcome } from "../../../checks/index.ts";
import type { SourceLimits } from "../../../config/source-limits.ts";
import type { Place } from "../../../sandboxes/place.ts";
import type {
  ContentComparison,
  FoundProfile,
  InferredContext,
  QueryLimits,
  Restored,
  Ruined,
  RuinLimits,
} from "../../engine.ts";
import { filesFloors, withFilesLoss } from "../../files/restore/files-loss.ts";
import { RestoredFiles } from "../../files/restore/restored.ts";
import type { TreeSummary } from "../../files/tree/tree-manifest.ts";
import type { Archived } from "./archived-tree.ts";
import { compareTree } from "./compare-tree.ts";
import type { ListedTree } from "./listed-tree.ts";

/** How a tree was restored, and what it is compared with. */
export interface TreeRestore {
  /** Or why nobody knows what the archive holds. */
  readonly archive: Archived | { readonly why: string };
  /** Null if there is no listing besides the archive. */
  readonly listed: ListedTree | null;
  readonly limits: SourceLimits;
  /** The key of `archive`; null if the backup has none under which digests could be signed. */
  readonly key: Buffer | null;
  readonly signal: AbortSignal;
}

/**
 * A tree that another program archived. Nobody listed it when it was stored, so it is compared with
 * the archive's own content, noted while it was restored.
 */
export class RestoredTree implements Restored {
  readonly #files: RestoredFiles;
  readonly #restore: TreeRestore;
  #summary: TreeSummary | null = null;

  constructor(place: Place, tree: string, restore: TreeRestore) {
    this.#files = new RestoredFiles(place, tree, restore.signal);
    this.#restore = restore;
  }

  fingerprint(): Promise<null> {
    return Promise.resolve(null);
  }

  query(path: string, limits: QueryLimits): Promise<QueryOutcome> {
    return this.#files.query(path, limits);
  }

  ruin(path: string, limits: RuinLimits): Promise<readonly Ruined[]> {
    return this.#files.ruin(path, limits);
  }

  async inferredChecks({ seen }: InferredContext): Promise<readonly CheckOutcome[]> {
    const started = performance.now();
    const { files, bytes } = await this.#look();
    const floors = filesFloors(seen);
    const why = this.#whyNotCompared();
    const row = formatRow([
      ["files", files],
      ["bytes", bytes],
      ...(why === null ? [] : [["why_not_compared", why] as const]),
    ]);
    return [
      withFilesLoss(
        seen,
        { files, bytes },
        evaluateCheck(
          {
            id: "inferred:files",
            query: "how many files and bytes the restored tree holds",
            expect: ["files >= 1", "bytes > 0", ...floors].join(" and "),
          },
          { kind: "rows", rows: [row] },
          performance.now() - started,
        ),
      ),
    ];
  }

  /** Everything was read for the other checks already. */
  async compareContent({ key }: ContentComparison): Promise<readonly CheckOutcome[]> {
    const { archive, listed } = this.#restore;
    const started = performance.now();
    const { summed, times } = this.#summary ?? (await this.#look());
    if ("why" in archive || summed === undefined) return [];
    const found = { archived: archive, restored: summed, keepsFractions: !times.isWhole, listed };
    return compareTree(found, key, () => performance.now() - started);
  }

  profile(): Promise<FoundProfile> {
    return this.#files.profile();
  }

  close(): Promise<void> {
    return this.#files.close();
  }

  /** Reads every byte of the tree. */
  async #look(): Promise<TreeSummary> {
    const { archive, key, limits } = this.#restore;
    const lookedFor = "why" in archive || key === null ? null : { ...archive, key: key.toString("hex") };
    this.#summary = await this.#files.manifest({ logicalBytes: limits.logicalBytes, lookedFor });
    return this.#summary;
  }

  #whyNotCompared(): string | null {
    const { archive, key } = this.#restore;
    if (key === null) return "the backup has no key";
    return "why" in archive ? archive.why : null;
  }
}
