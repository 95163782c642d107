import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { type Dump, RestoreRefused, type SourceMetadata, type SourceOf } from "../engine.ts";
import { Confinement } from "../../sandboxes/bounds/confinement.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { lookInside } from "../foreign/look-inside.ts";
import { formatHash, formatReference } from "../foreign/reference.ts";
import { dumpedFile } from "./dumped-file.ts";
import { Restic, resticVersion } from "./restic.ts";
import type { ResticSettings } from "../../config/engines/restic.ts";
import { newestSnapshot, repositoryId, requireFreshFile } from "./snapshots.ts";

/**
 * Names the newest snapshot that matches. Its ids pin its whole content. The repository stays where
 * it is.
 */
export async function dumpRestic(source: SourceOf<ResticSettings>, context: RunContext): Promise<Dump> {
  const { signal } = context;
  const version = await resticVersion(signal);
  const confinement = new Confinement(null);
  const restic = await Restic.open(source, { ...context, confinement });
  try {
    const repository_id = await repositoryId(restic);
    const snapshot = await newestSnapshot(restic, source);
    const { file, max_age_s } = source;
    if (file !== null) await requireFreshFile(restic, snapshot.id, file, { max_age_s });
    const inside = file === null ? null : await lookedInside(restic, snapshot.id, file);
    const format = inside?.format ?? "tree";
    const content = formatReference({
      v: 1,
      kind: "restic",
      repository_id,
      snapshot_id: snapshot.id,
      tree_id: snapshot.tree,
      file,
    });
    const metadata: SourceMetadata = {
      engine: "restic",
      engine_version: version,
      dump_format: `reference:restic-${format}`,
      schema_hash: formatHash(`restic-${format}`),
      original: {
        kind: "restic",
        repository_id,
        snapshot_id: snapshot.id,
        tree_id: snapshot.tree,
        snapshot_at: snapshot.time,
        hostname: snapshot.hostname,
        format,
        server_version: inside?.serverVersion ?? null,
      },
    };
    return {
      origin: { identity: { repository_id }, host: null },
      content: (async function* () {
        yield await Promise.resolve(content);
      })(),
      expectedBytes: content.length,
      metadata: () => Promise.resolve(metadata),
      close: () => Promise.resolve(),
    };
  } catch (caught) {
    stopIfAborted(signal);
    const error = confinement.whatEnded(caught);
    throw error instanceof RestoreRefused ? new RunError("dump_failed", error.message) : error;
  } finally {
    await restic.close();
  }
}

async function lookedInside(
  restic: Restic,
  snapshot: string,
  file: string,
): Promise<{ format: string; serverVersion: string | null }> {
  const dumped = await dumpedFile(restic, snapshot, file);
  try {
    const inside = await lookInside(dumped.content);
    // Stop restic first, because nobody reads the rest of the file.
    await dumped.close();
    await inside.close().catch(() => undefined);
    return inside;
  } finally {
    await dumped.close();
  }
}
