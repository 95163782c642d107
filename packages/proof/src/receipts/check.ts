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
  | "inclusion";

/** One line of the checklist. `detail` says what was compared, or what is needed to check it. */
export interface ReceiptCheck {
  id: CheckId;
  title: string;
  result: "held" | "failed" | "not_checked";
  detail: string;
}

const TITLES: Record<CheckId, string> = {
  signature: "The signature is the agent's",
  keyid: "The envelope names the agent's key",
  statement: "The statement is complete and does not contradict itself",
  ciphertext: "The ciphertext is the one that the receipt is about",
  public_key: "The bundle and you name the same agent key",
  leaf: "The log's entry is about this receipt",
  log_key: "The bundle and you name the same log",
  checkpoint: "The checkpoint is the log's",
  inclusion: "The receipt is in the log",
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

/** The ProofError that `check` throws, or undefined. Anything else thrown is a defect and goes on. */
export async function refusal(check: () => Promise<unknown> | void): Promise<ProofError | undefined> {
  try {
    await check();
    return undefined;
  } catch (error) {
    if (error instanceof ProofError) return error;
    throw error;
  }
}
