import { listOf, members, nonEmptyText, nullOr, requireKnownShape, wholeNumber } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { sha256Hex } from "../shapes.ts";

/** The answer of `GET /v1/log/proof`. Hashes are in hex. Verify it before you believe any of it. */
export interface LogProof {
  inclusion: { log_index: number; tree_size: number; hashes: string[] };
  /** Null if none was requested. */
  consistency: { from: number; to: number; hashes: string[] } | null;
  /** The signed note of the tree that both proofs lead to. */
  checkpoint: string;
}

const hashes = listOf(sha256Hex, { max: 64 });

const LOG_PROOF = members({
  inclusion: members({ log_index: wholeNumber, tree_size: wholeNumber, hashes }),
  consistency: nullOr(members({ from: wholeNumber, to: wholeNumber, hashes })),
  checkpoint: nonEmptyText,
});

/** Throws `malformed_log_proof`, `malformed_json` or `malformed_utf8`. */
export function parseLogProof(source: string | Uint8Array): LogProof {
  const value = parseJson(source);
  requireKnownShape(value, LOG_PROOF, "malformed_log_proof", "the log's answer");
  return value as unknown as LogProof;
}
