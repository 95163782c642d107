import { findSandbox } from "../../engines/index.ts";
import type { Config } from "../../root/config.ts";
import type { SourceConfig } from "../../root/source-config.ts";
import { CouldNotRun } from "../../runs/could-not-run.ts";
import { bad, good, type Finding } from "./finding.ts";

/** The programs that the declared sources need to be restored into. */
export async function examineEngines(config: Config): Promise<Finding[]> {
  const ofEngines = new Map([...config.sources.values()].map((source) => [source.engine, source]));
  const findings: Finding[] = [];
  for (const source of ofEngines.values()) findings.push(await examineEngine(source));
  return findings;
}

async function examineEngine(source: SourceConfig): Promise<Finding> {
  const { engine } = source;
  try {
    const { runtime } = await findSandbox(source, {});
    return good(engine, `restores into ${runtime.engine} ${runtime.engine_version}`);
  } catch (error) {
    if (!(error instanceof CouldNotRun)) throw error;
    return bad(
      engine,
      error.message,
      "install what is missing, or run the tests on another host (test_agent_id)",
    );
  }
}
