import { ProofError } from "../proof-error.ts";

export type CheckId =
  | "signature"
  | "keyid"
  | "statement"
  | "ciphertext"
  | "public_key"
  | "leaf"
  | "log_key"
  | "checkpoint"
  | "generation"
  | "inclusion"
  | "cosignatures"
  | "draw";

/** One line of the checklist. `detail` says what was compared, or what is missing for the check. */
export interface ReceiptCheck {
  id: CheckId;
  title: string;
  result: "held" | "failed" | "not_checked";
  detail: string;
}

/** The title names the subject and not the result, because it also appears next to "failed". */
const TITLES: Record<CheckId, string> = {
  signature: "signature of the agent's key over the payload",
  keyid: "key that the envelope names",
  statement: "statement complete and without contradiction",
  ciphertext: "ciphertext that the receipt is about",
  public_key: "agent's key in the bundle, against the one given",
  leaf: "log entry about this receipt",
  log_key: "log in the bundle, against the one given",
  checkpoint: "checkpoint signed by the log",
  generation: "generation of the log, and the events that began it",
  inclusion: "receipt in the log",
  cosignatures: "checkpoint cosigned by witnesses",
  draw: "backup that the draw chose",
};

export const held = (id: CheckId, detail: string): ReceiptCheck => ({
  id,
  title: TITLES[id],
  result: "held",
  detail,
});

export const failed = (id: CheckId, detail: string): ReceiptCheck => ({
  id,
  title: TITLES[id],
  result: "failed",
  detail,
});

export const notChecked = (id: CheckId, detail: string): ReceiptCheck => ({
  id,
  title: TITLES[id],
  result: "not_checked",
  detail,
});

/**
 * Returns the ProofError that `check` throws, or undefined. Any other error is a defect and is
 * rethrown.
 */
export async function refusal(check: () => Promise<unknown> | void): Promise<ProofError | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof ProofError) return error;
    throw error;
  }
}
