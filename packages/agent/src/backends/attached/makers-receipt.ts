import { isDeepStrictEqual } from "node:util";
import type { DownloadedBackup, MakersReceipt } from "@attestore/contract";
import {
  bundleFromJson,
  countsAt,
  keyRotationFromJson,
  keysLedTo,
  parsePublicKeyWire,
  ProofError,
  receiptKind,
  sshFingerprint,
  verifyKeyRotation,
  verifyReceipt,
  type BackupStatement,
  type KeyRotation,
  type ReceiptBundle,
  type TrustedKey,
} from "@attestore/proof";
import { join } from "node:path";
import { replaceJsonFile } from "@attestore/host/durable-files";
import { ownPublicKeys } from "../../key-rotation/own-keys.ts";
import type { TrustedMakers } from "../../config/config.ts";
import { RunError } from "../../errors/run-error.ts";
import type { Attachment } from "../../service/attachment.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { observeCheckpoint } from "../../log/witness.ts";
import { spoolEvent } from "../../receipts/spooled-event.ts";

export interface WantedBackup {
  readonly id: string;
  readonly slug: string;
  readonly sourceId: string;
  /**
   * The agents whose backups of the source config.yaml allows this host to restore; undefined if it
   * names none.
   */
  readonly trusted: TrustedMakers | undefined;
}

/**
 * Gets the signed receipt of a backup's maker: for a backup of which this host has no receipt, only
 * that says what it is. It must be in the organisation's log, in a tree that extends the one that
 * this agent has seen. It must be signed by a key that config.yaml names for the source, by one
 * that replaced such a key, or by one of this host's own keys.
 * @throws RunError maker_not_trusted, receipt_missing, receipt_invalid; LogAlarmError; ServiceError
 */
export async function fetchMakersStatement(
  attachment: Attachment,
  wanted: WantedBackup,
  signal: AbortSignal,
): Promise<BackupStatement> {
  const answer = await ask(attachment, wanted, signal);
  try {
    return await verified(attachment, wanted, answer, signal);
  } catch (error) {
    const fault = error instanceof ProofError ? invalid(wanted, error.message) : error;
    if (fault instanceof RunError && fault.code === "receipt_invalid")
      await keepEvidence(attachment, wanted, fault, answer);
    throw fault;
  }
}

/**
 * Checks that the service's own record of a backup agrees with the signed receipt. The record is
 * not trusted either way; if it differs, somebody changed it.
 * @throws RunError record_mismatch
 */
export async function requireSameRecord(
  attachment: Attachment,
  wanted: Pick<WantedBackup, "id" | "sourceId">,
  { subject, predicate }: BackupStatement,
  record: DownloadedBackup,
): Promise<void> {
  const signed: DownloadedBackup = {
    id: predicate.backup_id,
    source_id: predicate.source_id,
    sha256: subject[0].digest.sha256,
    size_bytes: predicate.size_bytes,
    cipher: predicate.cipher,
    source_metadata: predicate.source_metadata,
  };
  const differing = (Object.keys(signed) as (keyof DownloadedBackup)[]).filter(
    (field) => !isDeepStrictEqual(plain(signed[field]), plain(record[field])),
  );
  if (differing.length === 0) return;
  const error = new RunError(
    "record_mismatch",
    `the service's record of ${wanted.id} contradicts its signed receipt (${differing.join(", ")}): nothing was downloaded. ` +
      "Ask the service's operator; trust the receipt.",
  );
  await keepEvidence(attachment, wanted, error, record);
  throw error;
}

async function ask(
  { service }: Attachment,
  { id }: WantedBackup,
  signal: AbortSignal,
): Promise<MakersReceipt> {
  try {
    return await service.makersReceipt(id, { signal });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.refusal?.error !== "not_found") throw error;
    throw new RunError(
      "receipt_missing",
      `neither this host nor the service has the receipt of ${id}, so nothing proves what it is. If its agent has not ` +
        "submitted the receipt yet, run `attestore sync` on that host.",
      { cause: error },
    );
  }
}

async function verified(
  attachment: Attachment,
  wanted: WantedBackup,
  answer: MakersReceipt,
  signal: AbortSignal,
): Promise<BackupStatement> {
  const bundle = bundleFromJson(answer.receipt);
  const key = await trustedKey(attachment, wanted, bundle, await rotationsOf(answer));
  const { verdict, statement, checks } = await verifyReceipt({
    bundle,
    publicKey: key.publicKey,
    logKey: attachment.logKey,
  });
  if (verdict !== "true" || statement === undefined) {
    const faults = checks.filter(({ id, result }) => result !== "held" && id !== "ciphertext");
    throw invalid(wanted, faults.map(({ title, detail }) => `${title}: ${detail}`).join("; "));
  }
  if (receiptKind(statement) !== "backup") throw invalid(wanted, "it is the receipt of a restore test");
  const backup = statement as BackupStatement;
  requireOf(attachment, wanted, backup, key);
  // The checkpoint of its proof must extend what this agent has kept of the log; otherwise that is
  // the alarm.
  await observeCheckpoint(attachment, bundle.checkpoint, signal);
  return backup;
}

function requireOf(
  { orgId }: Attachment,
  wanted: WantedBackup,
  { subject, predicate }: BackupStatement,
  key: TrustedKey,
): void {
  const { id, trusted } = wanted;
  const differences = [
    predicate.backup_id !== id && `it is about ${predicate.backup_id}`,
    subject[0].name !== id && `its subject is ${subject[0].name}`,
    predicate.org_id !== orgId && `it belongs to the organisation ${predicate.org_id}`,
    !countsAt(key, predicate.finished_at) &&
      `it is signed with ${key.fingerprint}, which had been replaced before the backup was made`,
    trusted !== undefined &&
      trusted.sourceId !== null &&
      trusted.sourceId !== predicate.source_id &&
      `config.yaml says that ${wanted.slug} is ${trusted.sourceId}`,
  ].filter((difference) => typeof difference === "string");
  if (differences.length > 0) throw invalid(wanted, differences.join("; "));
}

/**
 * The key that a bundle claims, if this host trusts it for the source. @throws RunError
 * maker_not_trusted
 */
async function trustedKey(
  { layout }: Attachment,
  { id, slug, trusted }: WantedBackup,
  bundle: ReceiptBundle,
  rotations: readonly KeyRotation[],
): Promise<TrustedKey> {
  const claimed = parsePublicKeyWire(bundle.public_key);
  const fingerprint = sshFingerprint(claimed);
  const owned = await ownPublicKeys(layout);
  const own = owned.get(fingerprint);
  if (own !== undefined) return { publicKey: own, fingerprint, replacedAt: null };
  const pinned = new Set(trusted?.keys);
  const known = [claimed, ...rotations.flatMap(({ before, after }) => [before, after])];
  for (const root of known.filter((each) => pinned.has(sshFingerprint(each)))) {
    const led = keysLedTo(root, rotations).find((each) => each.fingerprint === fingerprint);
    if (led !== undefined) return led;
  }
  const later = [...owned.values()].some((root) =>
    keysLedTo(root, rotations).some((each) => each.fingerprint === fingerprint),
  );
  if (later)
    throw new RunError(
      "maker_not_trusted",
      `${id} is signed with ${fingerprint}, which replaced the key of this root: ${layout.keys} is a copy from before a rotation. ` +
        `Put the newest copy back. If there is none, this host cannot go on as the same agent: ` +
        `add that key under test_for: ${slug}: keys to restore its backups, and attach the host anew (docs/recover.md, "Go on as a new agent").`,
    );
  throw new RunError(
    "maker_not_trusted",
    `another agent made ${id}, according to its receipt with the signing key ${fingerprint}, and ${layout.config} ` +
      (trusted === undefined
        ? `has no test_for: ${slug}. The service must not decide whose backups this host restores`
        : `trusts other keys under test_for: ${slug}`) +
      `. To let this host test that agent's backups, compare the fingerprint with what \`attestore keys export\` prints there, ` +
      `or if that host is lost, with its recovery kit. Then add it under test_for: ${slug}: keys.`,
  );
}

/** Only what both keys signed counts. */
async function rotationsOf({ rotations }: MakersReceipt): Promise<KeyRotation[]> {
  return Promise.all(rotations.map((each) => verifyKeyRotation(keyRotationFromJson(each))));
}

function invalid({ id }: WantedBackup, why: string): RunError {
  return new RunError(
    "receipt_invalid",
    `the receipt of ${id} that the service returned is not valid: ${why}. Nothing was downloaded.`,
  );
}

/** For a person, and for the log: the service showed something that it must not. */
async function keepEvidence(
  { layout }: Attachment,
  { id, sourceId }: Pick<WantedBackup, "id" | "sourceId">,
  { code, message }: RunError,
  answer: unknown,
): Promise<void> {
  const kept_at = new Date().toISOString();
  await replaceJsonFile(join(layout.alarms, `${code}-${id}.json`), { v: 1, kept_at, why: message, answer });
  await spoolEvent(layout, `${code.replaceAll("_", "-")}-${id}`, {
    kind: "attestation_failed",
    source_id: sourceId,
    backup_id: id,
    occurred_at: kept_at,
    detail: { reason: code, detail: message.slice(0, 2000) },
  });
}

/** In its JSON form. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
