import type { ConfigRequest, ConfigResult } from "@attestore/contract";
import type { Config } from "../../config/config.ts";
import type { ProposedCheck } from "../../checks/index.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { probeSource } from "../source/probe-source.ts";
import { proposeChecks } from "../source/propose-checks.ts";
import { chooseDatabase } from "./chosen-database.ts";
import { clipped } from "./clipped.ts";

const MOST = 20;

/**
 * Begins a backup of a database and stops it, as `source add` does, and proposes checks.
 * @throws UserError request_refused; RunError
 */
export async function trySource(
  config: Config,
  { place, database }: Extract<ConfigRequest, { kind: "try_source" }>,
  root: string,
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<Extract<ConfigResult, { kind: "try_source" }>> {
  const { source } = await chooseDatabase(config, { place, database, name: "tried", root }, context);
  const { metadata } = await probeSource(source, context);
  const { checks, notProposed } = await proposeChecks(source, metadata, context);
  const tables = metadata?.["table_count"];
  return {
    kind: "try_source",
    source: {
      engine: source.engine,
      version: clipped(
        metadata === null ? source.engine : `${metadata.engine} ${metadata.engine_version}`,
        200,
      ),
      tables: typeof tables === "number" ? tables : null,
      checks: checks.filter(fits).slice(0, MOST),
      not_proposed: notProposed
        .slice(0, MOST)
        .map(({ id, why }) => ({ id: clipped(id, 700), why: clipped(why, 500) })),
    },
  };
}

/** A check is offered unchanged or not at all. */
function fits({ id, query, expect }: ProposedCheck): boolean {
  return /^[a-z0-9]/.test(id) && query.length <= 2000 && expect.length <= 500 && query.isWellFormed();
}
