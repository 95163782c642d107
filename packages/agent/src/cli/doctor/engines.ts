import { findSandbox } from "../../engines/index.ts";
import type { ForeignMetadata } from "../../engines/engine.ts";
import { newestBackup } from "../../receipts/receipt-history.ts";
import type { Config } from "../../config/config.ts";
import type { Layout } from "../../state/layout.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { RunError } from "../../errors/run-error.ts";
import { isolationHere } from "../../sandboxes/isolation/open-isolated-place.ts";
import { kindOf } from "../../config/sandbox-config.ts";
import { readSourceIds } from "../../state/source-ids.ts";
import { failed, type Finding, ok, warning } from "@attestore/host/finding";

/**
 * Examines where the declared sources are restored: this host's programs, once for each engine, and
 * a source's own container or database, as its newest backup needs it.
 */
export async function examineEngines(layout: Layout, config: Config): Promise<Finding[]> {
  const sources = [...config.sources.values()];
  const onHost = sources.filter(({ sandbox }) => sandbox === "process");
  const findings: Finding[] = onHost.length === 0 ? [] : [await examineIsolation(layout)];
  for (const source of new Map(onHost.map((each) => [each.engine, each])).values())
    findings.push(await examineSandbox(source.engine, source, {}, sources));
  for (const source of sources.filter((each) => !onHost.includes(each))) {
    const metadata = await metadataOf(layout, source);
    findings.push(await examineSandbox(`sandbox of ${source.slug}`, source, metadata, sources));
  }
  return findings;
}

/** How restores are isolated that run as processes of this host. */
async function examineIsolation(layout: Layout): Promise<Finding> {
  const remedy =
    "install the deb or rpm package, which includes the unit attestore-sandbox, or allow this user to create namespaces; otherwise use sandbox: container";
  try {
    switch (await isolationHere(layout.scratch)) {
      case "unit":
        return ok(
          "isolation",
          "restores run in the unit attestore-sandbox: no network, no keys, limited resources",
        );
      case "namespaces":
        return ok("isolation", "restores run in namespaces: no network, no keys, limited disk and processes");
      case "user":
        return warning(
          "isolation",
          "restores run as another user, with access to the network: this host does not allow namespaces",
          remedy,
        );
      case "none":
        return warning(
          "isolation",
          "restores run as the agent's own user: code in a dump can read keys/ and reach the network",
          remedy,
        );
    }
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return failed("isolation", error.message, remedy);
  }
}

async function metadataOf(layout: Layout, { slug }: SourceConfig): Promise<ForeignMetadata | null> {
  const id = (await readSourceIds(layout)).get(slug);
  const backup = id === undefined ? null : await newestBackup(layout, id);
  return backup?.statement.predicate.source_metadata ?? null;
}

/** Without metadata nobody knows yet what will be restored. */
async function examineSandbox(
  title: string,
  source: SourceConfig,
  metadata: ForeignMetadata | null,
  sources: readonly SourceConfig[],
): Promise<Finding> {
  try {
    const { runtime } = await findSandbox(source, metadata ?? {}, sources);
    const where =
      runtime.kind === "process"
        ? ""
        : ` in a ${runtime.kind === "uri" ? "database that you provide" : "container"}`;
    return ok(title, `restores into ${runtime.engine} ${runtime.engine_version}${where}`);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    if (metadata === null && error.code === "sandbox_lacks")
      return ok(title, `${kindOf(source.sandbox)}: the required version is known after the first backup`);
    return failed(
      title,
      error.message,
      "install what is missing, or run the restore tests on another host (test_agent_id)",
    );
  }
}
