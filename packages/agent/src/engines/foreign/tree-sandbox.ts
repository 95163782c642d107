import { randomBytes } from "node:crypto";
import { DEFAULT_LIMITS } from "../../config/source-limits.ts";
import { RunError } from "../../errors/run-error.ts";
import { endedWith } from "../../processes/child.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { captureTail } from "../capture-tail.ts";
import { type Restored, RestoreRefused, type Sandbox } from "../engine.ts";
import { extractTree } from "../files/restore/extract-tree.ts";
import { gnuTarVersion } from "../files/tar/gnu-tar.ts";
import { ArchivedTree } from "./tree/archived-tree.ts";
import { treeKey } from "./tree/compare-tree.ts";
import { ForeignTar } from "./tree/foreign-tar.ts";
import type { ListedTree } from "./tree/listed-tree.ts";
import { RestoredTree } from "./tree/restored-tree.ts";

export async function findTreeSandbox(): Promise<Sandbox> {
  const engine_version = await gnuTarVersion(AbortSignal.timeout(60_000));
  return {
    runtime: { kind: "process", engine: "files", engine_version },
    restore: (content, context) => restoreTree(content, context),
  };
}

/**
 * Extracts an archive that another program made, and notes its content while it passes. `listed`:
 * how that program lists it.
 */
export async function restoreTree(
  content: AsyncIterable<Buffer>,
  context: RunContext,
  listed: ListedTree | null = null,
): Promise<Restored> {
  const { contentKey, limits = DEFAULT_LIMITS, signal } = context;
  // Without the backup's key nothing is compared, but the archive's limits hold.
  const key = treeKey(contentKey ?? randomBytes(32));
  const archived = new ArchivedTree(key, limits, signal);
  const reader = new ForeignTar(archived);
  const end = captureTail(content);
  const { place, tree } = await extractTree(
    (async function* () {
      for await (const piece of end.content) {
        await reader.push(piece);
        yield piece;
      }
      reader.end();
    })(),
    {
      options: ["--preserve-permissions", "--no-acls", "--no-xattrs"],
      judge: (exit) => {
        if (exit.code !== 0 && archived.hasDevice)
          throw new RunError(
            "sandbox_lacks",
            "the archive contains a device file, which a sandbox must not create: leave it out of the archive",
          );
        if (exit.code !== 0)
          throw new RestoreRefused(`tar cannot extract all of the archive (${endedWith(exit)})`);
        // If an archive stops between two entries, tar takes that for its end. The last bytes of an
        // entry may look like one.
        if (reader.lacksEnd || !/^\0{1024}$/.test(end.last()))
          throw new RestoreRefused("the archive ends too early");
        if (reader.isContinued)
          throw new RunError(
            "sandbox_lacks",
            "another archive follows after the end of the first, and tar extracts only the first: join archives with `tar --concatenate`",
          );
      },
    },
    context,
  );
  const why = reader.why ?? archived.why;
  return new RestoredTree(place, tree, {
    archive: why === null ? archived.finish() : { why },
    listed,
    limits,
    key: contentKey === undefined ? null : key,
    signal,
  });
}
