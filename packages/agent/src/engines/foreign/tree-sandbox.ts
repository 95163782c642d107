import { filesFloors, withFilesLoss } from "../files/files-loss.ts";
import type { CheckOutcome } from "@attestore/proof";
import { evaluateCheck, formatRow, type QueryOutcome } from "../../checks/index.ts";
import { endedWith } from "../../processes/child.ts";
import type { Place } from "../../sandboxes/place.ts";
import {
  type FoundProfile,
  type InferredContext,
  type QueryLimits,
  type Restored,
  type Ruined,
  type RuinLimits,
  RestoreRefused,
  type Sandbox,
} from "../engine.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { extractTree } from "../files/extract-tree.ts";
import { gnuTarVersion } from "../files/gnu-tar.ts";
import { RestoredFiles } from "../files/restored.ts";
import { captureTail } from "../capture-tail.ts";

export async function findTreeSandbox(): Promise<Sandbox> {
  const engine_version = await gnuTarVersion(AbortSignal.timeout(60_000));
  return { runtime: { kind: "process", engine: "files", engine_version }, restore: restoreTree };
}

export async function restoreTree(content: AsyncIterable<Buffer>, context: RunContext): Promise<Restored> {
  const end = captureTail(content);
  const { place, tree } = await extractTree(
    end.content,
    {
      options: ["--no-acls", "--no-xattrs"],
      judge: (exit) => {
        if (exit.code !== 0)
          throw new RestoreRefused(`tar cannot extract all of the archive (${endedWith(exit)})`);
        // If an archive stops between two entries, tar takes that for its end.
        if (!/^\0{1024}$/.test(end.last())) throw new RestoreRefused("the archive ends too early");
      },
    },
    context,
  );
  return new RestoredTree(place, tree, context.signal);
}

/** Why the files are not compared one by one. */
const WHY_NOT_COMPARED = "nobody listed the files when they were stored";

/**
 * A tree that others archived. Nobody wrote down what it should hold, but every byte of it must be
 * readable.
 */
export class RestoredTree implements Restored {
  readonly #files: RestoredFiles;

  constructor(place: Place, tree: string, signal: AbortSignal) {
    this.#files = new RestoredFiles(place, tree, signal);
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
    const { files, bytes } = await this.#files.manifest();
    const floors = filesFloors(seen);
    const row = formatRow([
      ["files", files],
      ["bytes", bytes],
      ["why_not_compared", WHY_NOT_COMPARED],
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

  profile(): Promise<FoundProfile> {
    return this.#files.profile();
  }

  close(): Promise<void> {
    return this.#files.close();
  }
}
