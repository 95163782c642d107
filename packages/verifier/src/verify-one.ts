import {
  isTypeId,
  MAX_BUNDLE_SIZE,
  parseReceipt,
  ProofError,
  verifyReceipt,
  type CheckId,
  type KeyRotation,
  type NoteVerifier,
  type PublicKey,
  type Receipt,
  type ReceiptCheck,
} from "@attestore/proof";
import { CannotTell } from "./cannot-tell.ts";
import { readSmallFile } from "./files.ts";
import type { CheckedLine, Outcome } from "./outcome.ts";
import { notProven, proveCurrent } from "./prove-current.ts";
import { keyFor, rotationLine } from "./rotated-key.ts";
import { get, type Service } from "./service.ts";

/** What the asker trusts and has. */
export interface Evidence {
  publicKey: PublicKey | undefined;
  /** Each verified, none trusted by itself. */
  rotations: readonly KeyRotation[];
  logKey: NoteVerifier | undefined;
  witnessKeys: readonly NoteVerifier[];
  requireWitnesses: number | undefined;
  ciphertextSha256: string | undefined;
  requireLog: boolean | undefined;
  service: Service | undefined;
}

/** Never throws over a receipt, a file or a service. */
export async function verifyOne(name: string, evidence: Evidence): Promise<Outcome> {
  try {
    return await verify(name, evidence);
  } catch (error) {
    if (error instanceof CannotTell || error instanceof ProofError)
      return {
        receipt: name,
        verdict: isUnreadable(error) ? "cannot_tell" : "false",
        statement: null,
        checks: [],
        error: { code: error.code, message: error.message },
      };
    throw error;
  }
}

/** A file that is no receipt at all says nothing about one; a receipt that is malformed is not a true one. */
function isUnreadable(error: CannotTell | ProofError): boolean {
  return (
    error instanceof CannotTell || ["not_a_receipt", "malformed_json", "malformed_utf8"].includes(error.code)
  );
}

async function verify(name: string, evidence: Evidence): Promise<Outcome> {
  const { service, logKey, publicKey: trusted, rotations } = evidence;
  const byId = service !== undefined && isTypeId(name, "rcpt");
  const bytes = byId
    ? await get(service, `/api/receipts/${name}/bundle`)
    : await readSmallFile(name, MAX_BUNDLE_SIZE);
  const receipt = parseReceipt(bytes);
  requireAskedFor(name, receipt, byId);

  const requireLog = evidence.requireLog ?? (service ? true : undefined);
  const key = trusted === undefined ? null : keyFor(receipt, trusted, rotations);
  const publicKey = key?.publicKey;
  const { statement, checks, ...told } = await verifyReceipt({
    ...receipt,
    ...evidence,
    publicKey,
    requireLog,
  });
  const asked: Outcome = {
    receipt: name,
    verdict: told.verdict,
    statement: statement ?? null,
    checks: checks.map((check) => withHint(check, receipt, evidence)),
    error: null,
  };
  const outcome =
    key === null || statement === undefined || rotations.length === 0
      ? asked
      : addLines(asked, [rotationLine(key, rotations, statement)]);
  const { verdict } = outcome;
  if (service === undefined || byId || !("bundle" in receipt)) return outcome;

  if (verdict !== "true" || logKey === undefined)
    return addLines(outcome, [
      notProven("the log's key is needed, and the bundle's own proof has to hold first"),
    ]);
  try {
    return addLines(outcome, await proveCurrent(service, receipt.bundle, logKey));
  } catch (error) {
    if (error instanceof CannotTell) return addLines(outcome, [notProven(error.message)]);
    throw error;
  }
}

/** A true receipt is not an answer to a question about another. */
function requireAskedFor(name: string, receipt: Receipt, byId: boolean): void {
  if (byId && (!("bundle" in receipt) || receipt.bundle.leaf.id !== name))
    throw new CannotTell(
      "service_refused",
      `the service answered with something other than the bundle of ${name}`,
    );
}

function addLines(outcome: Outcome, more: CheckedLine[]): Outcome {
  const isFalse = more.some(({ result }) => result === "failed");
  const isOpen = more.some(({ result }) => result === "not_checked");
  const cannotTell = outcome.verdict === "true" && isOpen;
  const verdict = isFalse ? "false" : cannotTell ? "cannot_tell" : outcome.verdict;
  return { ...outcome, verdict, checks: [...outcome.checks, ...more] };
}

const NEEDS_KEY: readonly CheckId[] = ["signature", "keyid", "statement", "public_key"];
const NEEDS_LOG_KEY: readonly CheckId[] = ["log_key", "checkpoint", "inclusion"];

function withHint(check: ReceiptCheck, receipt: Receipt, evidence: Evidence): CheckedLine {
  return { ...check, hint: check.result === "not_checked" ? hint(check.id, receipt, evidence) : null };
}

function hint(id: CheckId, receipt: Receipt, evidence: Evidence): string | null {
  if (id === "ciphertext" && evidence.ciphertextSha256 === undefined) return "--ciphertext FILE";
  if (NEEDS_KEY.includes(id) && evidence.publicKey === undefined) return "--key FILE";
  if ((id === "inclusion" || id === "cosignatures") && "envelope" in receipt)
    return "name its bundle, or its id with --prove URL";
  if (NEEDS_LOG_KEY.includes(id) && evidence.logKey === undefined) return "--log-key VKEY";
  return null;
}
