import { access, constants } from "node:fs/promises";
import { clientVersions } from "../../engines/index.ts";
import { requireRepository } from "../../engines/restic/open-repository.ts";
import type { Config } from "../../config/config.ts";
import type { Layout } from "../../state/layout.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { formatIdentity, readSourcePins } from "../../receipts/source-pins.ts";
import { newestBackup, newestRestoreTest } from "../../receipts/receipt-history.ts";
import { RunError } from "../../errors/run-error.ts";
import { readSourceIds } from "../../state/source-ids.ts";
import { unreadableFiles } from "../../engines/files/dump/unreadable-files.ts";
import { unreadableSource } from "../../engines/unreadable-source.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

/** In a large tree, as many files as it can look at in this time. */
const LOOKING_MS = 5_000;

/**
 * Checks whether each source can be reached, and whether the program that dumps it is new enough
 * for its server.
 */
export async function examineSources(
  layout: Layout,
  config: Config,
  signal: AbortSignal,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const pins = await readSourcePins(layout);
  for (const source of config.sources.values()) {
    const title = `source ${source.slug}`;
    const met = pins.get(source.slug)?.met ?? null;
    if (met !== null)
      findings.push(
        failed(
          title,
          `not the pinned database: this is ${formatIdentity(met.identity)}`,
          `check what it connects to; if it is right: attestore source confirm ${source.slug}`,
        ),
      );
    if (source.engine === "restic" && source.as_agent)
      findings.push(
        warning(
          title,
          "restic runs as the agent, with its files and the network (as_agent)",
          "whoever can write to the repository could use a hole in restic against this host: leave as_agent out if the agent itself can read the repository",
        ),
      );
    try {
      findings.push(await reach(title, layout, source, signal));
    } catch (error) {
      if (!(error instanceof RunError) || error.code === "interrupted") throw error;
      // A host that only tests another host's backups does not have to reach the source.
      findings.push(
        (await onlyTests(layout, source.slug))
          ? warning(
              title,
              `can only be tested here: ${error.message}`,
              "nothing to do if another host makes the backups",
            )
          : failed(title, error.message, "its backups fail until this is fixed"),
      );
    }
  }
  return findings;
}

async function reach(
  title: string,
  layout: Layout,
  source: SourceConfig,
  signal: AbortSignal,
): Promise<Finding> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(30_000)]);
  const versions = await clientVersions(source, { scratchDir: layout.scratch, signal: within });
  if (versions !== null) {
    const detail = `${versions.server}, dumped by ${versions.client}`;
    const { warning: concern } = versions;
    return concern === undefined
      ? ok(title, detail)
      : warning(title, `${detail}; ${concern.text}`, concern.next);
  }
  if (source.engine === "restic" && !source.as_agent)
    return ok(title, await requireRepository(source.repository, within));
  if (!("path" in source)) return ok(title, source.engine);
  try {
    await access(source.path, constants.R_OK);
    const unreadable =
      source.engine === "files" ? await unreadableFiles(source.path, within, LOOKING_MS) : null;
    if (unreadable !== null) throw unreadable;
    return ok(title, source.path);
  } catch (error) {
    if (error instanceof RunError) throw error;
    throw unreadableSource(source.path, error);
  }
}

async function onlyTests(layout: Layout, slug: string): Promise<boolean> {
  const id = (await readSourceIds(layout)).get(slug);
  if (id === undefined || (await newestBackup(layout, id)) !== null) return false;
  return (await newestRestoreTest(layout, id)) !== null;
}
