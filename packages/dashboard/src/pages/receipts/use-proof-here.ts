import { ProofError, type ReceiptCheck } from "@attestore/proof";
import { useQuery } from "@tanstack/react-query";
import { useMe, useOrgId } from "../../api/session.ts";
import { NO_KEYS, type VerdictHere, verifyInBrowser } from "../../verifier/verify-in-browser.ts";
import { fetchProof, requireSame } from "./fetch-proof.ts";
import type { ReceiptDetail } from "./queries.ts";

/** The checks behind each mark: all of them must hold. */
export const MARKS = {
  signature: ["signature", "keyid", "public_key", "statement"],
  log: ["leaf", "log_key", "checkpoint", "inclusion"],
  witnesses: ["cosignatures"],
} as const satisfies Record<string, readonly ReceiptCheck["id"][]>;

export type Mark = keyof typeof MARKS;

export interface ProofHere {
  /** Null before anything was verified. */
  results: Readonly<Record<Mark, ReceiptCheck["result"] | null>>;
  /** `held` if signature and log hold, whatever the witnesses; `failed` if anything does not. */
  state: "unknown" | "held" | "failed";
  /** Whether anything was verified. */
  isDone: boolean;
  error: Error | null;
}

/**
 * Whether the receipt is signed, in the log and witnessed, as this browser finds when the page
 * opens.
 */
export function useProofHere(receipt: ReceiptDetail): ProofHere {
  const orgId = useOrgId();
  const { impersonated_by } = useMe();
  const { data, error } = useQuery({
    // Another statement of the same receipt is verified anew.
    queryKey: ["certificate", orgId, receipt.id, receipt.envelope.payload],
    queryFn: async () => {
      const { bundle, keys } = await fetchProof(orgId, receipt.id, NO_KEYS);
      requireSame(receipt, bundle);
      return verifyInBrowser({ bundle }, keys);
    },
    // Each call of an operator who acts as a member adds an entry to the organisation's log.
    enabled: impersonated_by === null,
    retry: false,
    refetchInterval: false,
  });
  const results = {
    signature: resultOf(data, "signature"),
    log: resultOf(data, "log"),
    witnesses: resultOf(data, "witnesses"),
  };
  const isFalse = data?.verdict === "false" || error instanceof ProofError;
  const holds = results.signature === "held" && results.log === "held";
  return {
    results,
    state: isFalse ? "failed" : holds ? "held" : "unknown",
    isDone: data !== undefined,
    error,
  };
}

/** Null before anything was verified. */
function resultOf(verdict: VerdictHere | undefined, mark: Mark): ReceiptCheck["result"] | null {
  if (verdict === undefined) return null;
  const ids: readonly string[] = MARKS[mark];
  const found = verdict.checks.filter(({ id }) => ids.includes(id));
  if (found.some(({ result }) => result === "failed")) return "failed";
  return found.length > 0 && found.every(({ result }) => result === "held") ? "held" : "not_checked";
}
