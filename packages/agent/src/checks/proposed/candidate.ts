import { evaluateCheck } from "../evaluation/evaluate-check.ts";
import type { QueryOutcome } from "../evaluation/query-outcome.ts";

/** In config.yaml's form. */
export interface ProposedCheck {
  readonly id: string;
  readonly query: string;
  readonly expect: string;
}

/** The same query, as if the data were ruined in one way. It only reads. */
interface OnRuinedData {
  readonly how: string;
  readonly query: string;
}

/** A check that may be proposed. */
export interface Candidate extends ProposedCheck {
  readonly ruined: readonly OnRuinedData[];
}

/** Why a check is not proposed, for people. */
export interface NotProposed {
  readonly id: string;
  readonly why: string;
}

export interface Proposals {
  readonly checks: readonly ProposedCheck[];
  readonly notProposed: readonly NotProposed[];
}

/** Runs one of our own queries at the source, and returns its rows as a check's query would. */
export type AskSource = (query: string) => Promise<QueryOutcome>;

/**
 * Tries a check on the source's data, where it must hold, and on the same data as if they were
 * ruined, where it must fail each time.
 * @returns why it is of no use; null if it is
 */
export async function whyOfNoUse(candidate: Candidate, ask: AskSource): Promise<string | null> {
  const holds = async (query: string): Promise<boolean | null> => {
    const outcome = await ask(query);
    if (outcome.kind !== "rows") return null;
    return evaluateCheck({ ...candidate, query }, outcome, 0).result === "passed";
  };
  const now = await holds(candidate.query);
  if (now === null) return "the source did not answer in time";
  if (!now) return "it does not hold for the source's data";
  for (const { how, query } of candidate.ruined) {
    const held = await holds(query);
    if (held === null) return `the source did not answer in time for ${how}`;
    if (held) return `it would not notice ${how}`;
  }
  return null;
}
