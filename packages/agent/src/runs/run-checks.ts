import type { CheckOutcome } from "@attestore/proof";
import { digestCheck, evaluateCheck, type QueryOutcome } from "../checks/index.ts";
import type { ForeignMetadata, LastPassed, Restored, Runtime } from "../engines/engine.ts";
import type { SourceConfig } from "../root/source-config.ts";
import { CouldNotRun } from "./could-not-run.ts";

export interface ChecksToRun {
  readonly source: SourceConfig;
  readonly metadata: ForeignMetadata;
  readonly lastPassed: LastPassed | null;
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
  onDone(checks: number): void;
}

/**
 * The configured checks and those that follow from the backup. An empty result means that nothing was there to be read,
 * which is no pass.
 * @throws CouldNotRun
 */
export async function runChecks(restored: Restored, run: ChecksToRun): Promise<CheckOutcome[]> {
  const { source, metadata, lastPassed, signal } = run;
  const outcomes = [...(await restored.inferredChecks({ metadata, lastPassed, signal }))];
  run.onDone(outcomes.length);
  for (const check of source.checks) {
    const started = performance.now();
    const outcome = await restored.query(check.query, { timeout_s: source.checkTimeout_s, signal });
    refuseTimeout(check.id, outcome);
    outcomes.push(evaluateCheck(check, outcome, performance.now() - started));
    run.onDone(outcomes.length);
  }
  // The schema alone is not data: it counts only beside a check that read some.
  const schema = outcomes.length === 0 ? null : await schemaCheck(restored, run);
  return schema === null ? outcomes : [...outcomes, schema];
}

/** A query that does not end says nothing about the data, neither that they are right nor that they are wrong. */
function refuseTimeout(id: string, outcome: QueryOutcome): void {
  if (outcome.kind !== "timeout") return;
  throw new CouldNotRun(
    "check_timed_out",
    `the query of check ${id} did not end within ${outcome.after_s} s on the restored data: raise check_timeout_s, or ask for less`,
  );
}

async function schemaCheck(
  restored: Restored,
  { metadata, signal }: ChecksToRun,
): Promise<CheckOutcome | null> {
  const expectedSha256 = metadata["schema_hash"];
  if (typeof expectedSha256 !== "string") return null;
  const started = performance.now();
  const observedSha256 = await restored.fingerprint(metadata, signal);
  if (observedSha256 === null) return null;
  return digestCheck({
    name: "schema",
    expectedSha256,
    observedSha256,
    duration_ms: performance.now() - started,
  });
}
