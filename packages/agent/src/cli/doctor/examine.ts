import { plural, shellWord } from "@attestore/proof";
import { ConfigError, readConfig, type Config } from "../../config/config.ts";
import type { Layout } from "../../state/layout.ts";
import type { ResolvedRoot } from "../../state/resolve-root.ts";
import { UserError } from "../../errors/user-error.ts";
import type { Call } from "../invocation/command.ts";
import { examineDamaged, unlessDamaged } from "./damaged.ts";
import { examineEnvironment } from "./environment.ts";
import { examineFiles } from "./files.ts";
import { examineProxy } from "./proxy.ts";
import { examineRecovery } from "./recovery.ts";
import { examineRelease } from "./release.ts";
import { examineRoot } from "./root.ts";
import { examineStorage } from "./storage.ts";
import { examineService } from "./service.ts";
import { failed, type Finding, ok } from "@attestore/host/finding";
import { examineSpool } from "./spool.ts";

/**
 * Checks everything, in the order in which it would break. A broken part does not keep the rest
 * from being checked.
 */
export async function examine(call: Call, resolved: ResolvedRoot, layout: Layout): Promise<Finding[]> {
  const findings = [await examineRoot(resolved), await examineRelease()];
  let config: Config | null = null;
  try {
    config = await readConfig(layout.config, layout.root);
    findings.push(ok("config.yaml", plural(config.sources.size, "source")));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const detail = error instanceof ConfigError ? error.shown : error.message;
    // The agent's user owns keys/, also where the root itself is root's.
    const next = /\bEACCES\b/.test(detail)
      ? `chown --reference=${shellWord(layout.keys)} ${shellWord(layout.config)}`
      : `edit ${layout.config}`;
    findings.push(failed("config.yaml", detail, next));
  }
  findings.push(...(await examineFiles(layout, config)), ...(await examineEnvironment(layout)));
  if (config !== null) {
    const known = config;
    const { standalone, upload } = config;
    findings.push(
      ...(await unlessDamaged("recovery kit", async () => [await examineRecovery(layout, known)])),
      ...examineProxy(),
    );
    if (standalone === null)
      findings.push(...(await unlessDamaged("service", () => examineService(call, layout, known))));
    else findings.push(await examineStorage(layout, standalone, upload, call.signal));
    const { examineEngines } = await import("./engines.ts");
    findings.push(...(await unlessDamaged("engines", () => examineEngines(layout, known))));
    const { examineSources } = await import("./sources.ts");
    findings.push(...(await unlessDamaged("sources", () => examineSources(layout, known, call.signal))));
  }
  findings.push(await examineDamaged(layout), ...(await unlessDamaged("spool", () => examineSpool(layout))));
  return findings;
}
