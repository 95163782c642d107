import {
  isTypeId,
  MAX_BUNDLE_SIZE,
  parseReceipt,
  ProofError,
  formatVerifierKey,
  readCosignatures,
  verifyReceipt,
  type CheckId,
  type KeyRotation,
  type NoteVerifier,
  type Receipt,
  type ReceiptCheck,
  type Statement,
} from "@attestore/proof";
import { type Basis, clockOf } from "./basis.ts";
import { CannotTell } from "./cannot-tell.ts";
import { readSmallFile } from "./files.ts";
import type { KeyList } from "./key-list.ts";
import type { CheckedLine, Outcome } from "./outcome.ts";
import { notProven, proveCurrent } from "./prove-current.ts";
import { agentLine, type ChosenKey, keyFor, rotationLine } from "./rotated-key.ts";
import { get, type Service } from "./service.ts";

/** What the caller trusts and has. */
export interface Evidence {
  /** Agents' keys, and the organisation of their list. */
  pinned: KeyList;
  /** Verified rotations. None is trusted by itself. */
  rotations: readonly KeyRotation[];
  logKey: NoteVerifier | undefined;
  witnessKeys: readonly NoteVerifier[];
  requireWitnesses: number | undefined;
  ciphertextSha256: string | undefined;
  requireLog: boolean | undefined;
  service: Service | undefined;
}

/** Verifies one receipt. Never throws over a receipt, a file or a service. */
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
        basis: null,
        error: { code: error.code, message: error.message },
      };
    throw error;
  }
}

const UNREADABLE: readonly string[] = [
  "not_a_receipt",
  "malformed_json",
  "malformed_utf8",
  "unknown_version",
];

/**
 * A file that is not a receipt gives `cannot_tell`, and so does a receipt of a later version. A
 * malformed receipt is false.
 */
function isUnreadable(error: CannotTell | ProofError): boolean {
  return error instanceof CannotTell || UNREADABLE.includes(error.code);
}

async function verify(name: string, evidence: Evidence): Promise<Outcome> {
  const { service, logKey, pinned, rotations } = evidence;
  const byId = service !== undefined && isTypeId(name, "rcpt");
  const bytes = byId
    ? await get(service, `/api/receipts/${name}/bundle`)
    : await readSmallFile(name, MAX_BUNDLE_SIZE);
  const receipt = parseReceipt(bytes);
  requireAskedFor(name, receipt, byId);

  const requireLog = evidence.requireLog ?? (service ? true : undefined);
  const key = keyFor(receipt, pinned.keys, rotations);
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
    basis: await basisOf(receipt, key, evidence),
    error: null,
  };
  const outcome =
    key === null || statement === undefined
      ? asked
      : addLines(
          asked,
          [
            rotations.length === 0 ? null : rotationLine(key, rotations, statement),
            agentLine(key, statement),
            orgLine(pinned, statement),
          ].filter((line) => line !== null),
        );
  const { verdict } = outcome;
  if (service === undefined || byId || !("bundle" in receipt)) return outcome;

  if (verdict !== "true" || logKey === undefined)
    return addLines(outcome, [
      notProven("this needs the log's key, and the bundle's own proof must be valid first"),
    ]);
  try {
    return addLines(outcome, await proveCurrent(service, receipt.bundle, logKey));
  } catch (error) {
    if (error instanceof CannotTell) return addLines(outcome, [notProven(error.message)]);
    throw error;
  }
}

/** A list of one organisation's keys does not apply to another's receipts. */
function orgLine({ orgId }: KeyList, { predicate }: Statement): CheckedLine | null {
  if (orgId === null || orgId === predicate.org_id) return null;
  const detail = `the list of keys belongs to ${orgId}, but the receipt to ${predicate.org_id}`;
  return { id: "org", title: "organisation of the keys", result: "not_checked", detail, hint: null };
}

async function basisOf(
  receipt: Receipt,
  key: ChosenKey | null,
  { logKey, witnessKeys, requireWitnesses }: Evidence,
): Promise<Basis> {
  const { seen } =
    "bundle" in receipt && witnessKeys.length > 0
      ? await readCosignatures(receipt.bundle.checkpoint, witnessKeys).catch(ignoreMalformed)
      : { seen: [] };
  const isLed = key !== null && key.fingerprint !== key.pinned.fingerprint;
  return {
    agent_keys:
      key === null
        ? []
        : [
            {
              fingerprint: key.fingerprint,
              agent_id: key.pinned.agentId,
              from: isLed ? "rotation" : key.pinned.source.kind,
              where: isLed ? key.pinned.fingerprint : key.pinned.source.where,
              receipts: 1,
            },
          ],
    log_key: {
      verifier_key:
        logKey !== undefined
          ? formatVerifierKey(logKey)
          : "bundle" in receipt
            ? receipt.bundle.log.verifier_key
            : null,
      from: logKey === undefined ? "claimed" : "given",
    },
    clock: clockOf(seen),
    witnesses: seen,
    witnesses_required: requireWitnesses ?? witnessKeys.length,
  };
}

/** The checklist reports what is wrong with the note. */
function ignoreMalformed(error: unknown): { seen: [] } {
  if (error instanceof ProofError && error.code !== "malformed_key") return { seen: [] };
  throw error;
}

/** Another receipt, even a true one, does not answer the question. */
function requireAskedFor(name: string, receipt: Receipt, byId: boolean): void {
  if (byId && (!("bundle" in receipt) || receipt.bundle.leaf.id !== name))
    throw new CannotTell("service_refused", `the service's answer is not the bundle of ${name}`);
}

function addLines(outcome: Outcome, more: CheckedLine[]): Outcome {
  const isFalse = more.some(({ result }) => result === "failed");
  const isOpen = more.some(({ result }) => result === "not_checked");
  const cannotTell = outcome.verdict === "true" && isOpen;
  const verdict = isFalse ? "false" : cannotTell ? "cannot_tell" : outcome.verdict;
  return { ...outcome, verdict, checks: [...outcome.checks, ...more] };
}

const NEEDS_KEY: readonly CheckId[] = ["signature", "keyid", "statement", "public_key"];
const NEEDS_LOG_KEY: readonly CheckId[] = ["log_key", "checkpoint", "generation", "inclusion"];

function withHint(check: ReceiptCheck, receipt: Receipt, evidence: Evidence): CheckedLine {
  if (check.id === "keyid" && check.result === "failed")
    return { ...check, hint: "if the agent replaced its key: --rotation FILE, from its keys/rotations/" };
  return { ...check, hint: check.result === "not_checked" ? hint(check.id, receipt, evidence) : null };
}

function hint(id: CheckId, receipt: Receipt, evidence: Evidence): string | null {
  if (id === "ciphertext" && evidence.ciphertextSha256 === undefined) return "--ciphertext FILE";
  if (NEEDS_KEY.includes(id) && evidence.pinned.keys.length === 0) return "--key FILE";
  if ((id === "inclusion" || id === "cosignatures") && "envelope" in receipt)
    return "give its bundle, or its id with --prove URL";
  if (NEEDS_LOG_KEY.includes(id) && evidence.logKey === undefined) return "--log-key VKEY";
  return null;
}
