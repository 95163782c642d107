import type { IncidentKind, SourceConcern, SourceState } from "@attestore/contract";
import type { SourceProof } from "../sources/read-proofs.ts";
import { FAILURES, lastDone, type Failure, type TestedSource } from "./failures.ts";

/** The state of a source, besides its record. */
export interface Known {
  failures: readonly Failure[];
  /** Its open incidents. */
  open: readonly IncidentKind[];
  schemaDrift: boolean;
  environmentDrift: boolean;
  /** From the last test that measured it. */
  restore_ms: number | null;
  /** The agent that makes its backups, and the one that tests them if it is another. */
  agents: readonly ("active" | "silent" | "revoked")[];
}

export interface Judged {
  state: SourceState;
  /** Gravest first. */
  concerns: SourceConcern[];
  failedAt: Date | null;
}

type Judging = Pick<TestedSource, "last_backup_at" | "last_proven_at" | "tested_at" | "objectives"> & {
  proof: Pick<SourceProof, "because" | "failedAt">;
};

/**
 * The state of a source now, never better than it is. If a run failed or could not be done after
 * the last success, the source counts as failed. A source is proven by the rule of packages/proof,
 * unless something else contradicts it or a due run is missing.
 */
export function judgeSource(source: Judging, known: Known, now: Date): Judged {
  const { last_backup_at, last_proven_at, objectives } = source;
  const { because, failedAt: testFailedAt } = source.proof;
  const failed = new Map<SourceConcern, Date>([
    // What is known to be bad comes before what is not known.
    ...(testFailedAt === null ? [] : ([["restore_test_failed", testFailedAt]] as const)),
    ...failuresSince(source, known.failures),
  ]);
  const age_s = (at: Date): number => (now.getTime() - at.getTime()) / 1000;
  const missed: SourceConcern[] = [];
  if (known.open.includes("backup_missed")) missed.push("backup_missed");
  if (known.open.includes("restore_test_missed")) missed.push("restore_test_missed");
  const rpo_s = objectives?.rpo_s;
  if (rpo_s !== undefined && last_backup_at !== null && age_s(last_backup_at) > rpo_s)
    missed.push("rpo_exceeded");
  // A failed restore test is among the failures.
  const unproven =
    because !== "restore_test_failed" ? because : last_proven_at === null ? ("never_proven" as const) : null;
  const notes: SourceConcern[] = [];
  const rto_s = objectives?.rto_s;
  if (rto_s !== undefined && known.restore_ms !== null && known.restore_ms > rto_s * 1000)
    notes.push("rto_exceeded");
  if (known.agents.includes("revoked")) notes.push("agent_revoked");
  if (known.agents.includes("silent")) notes.push("agent_silent");
  if (known.schemaDrift) notes.push("schema_drift");
  if (known.environmentDrift) notes.push("environment_drift");

  const state: SourceState =
    failed.size > 0
      ? "failed"
      : missed.length > 0
        ? "missed"
        : unproven === null
          ? "proven"
          : last_backup_at === null && last_proven_at === null
            ? "none"
            : "backed_up";
  return {
    state,
    concerns: [...failed.keys(), ...missed, ...(unproven === null ? [] : [unproven]), ...notes],
    failedAt: [...failed.values()].reduce<Date | null>(
      (last, at) => (last !== null && last > at ? last : at),
      null,
    ),
  };
}

const CONCERNS = {
  restore_failed: "restore_could_not_run",
  backup_failed: "backup_failed",
  attestation_failed: "attestation_failed",
} as const satisfies Record<Failure["kind"], SourceConcern>;

/** The failures after which no such run has come to a result. */
function failuresSince(source: Judging, failures: readonly Failure[]): Map<SourceConcern, Date> {
  const since = new Map<SourceConcern, Date>();
  for (const kind of FAILURES) {
    const done = lastDone(source, kind);
    for (const failure of failures) {
      if (failure.kind !== kind || (done !== null && failure.at <= done)) continue;
      const known = since.get(CONCERNS[kind]);
      if (known === undefined || known < failure.at) since.set(CONCERNS[kind], failure.at);
    }
  }
  return since;
}

const ORDER: readonly SourceState[] = ["failed", "missed", "none", "backed_up", "proven"];

/** Orders by state, then by how long ago each was proven, then by name. */
export function worstFirst(
  a: { state: SourceState; last_proven_at: string | null; slug: string },
  b: { state: SourceState; last_proven_at: string | null; slug: string },
): number {
  const byState = ORDER.indexOf(a.state) - ORDER.indexOf(b.state);
  if (byState !== 0) return byState;
  const [provenA, provenB] = [a.last_proven_at ?? "", b.last_proven_at ?? ""];
  if (provenA !== provenB) return provenA < provenB ? -1 : 1;
  return a.slug < b.slug ? -1 : 1;
}
