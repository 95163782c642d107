import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  type CheckOutcome,
  comparedContentText,
  envelopeFromJson,
  parseReceipt,
  parseStatement,
  ProofError,
  receiptKind,
} from "@attestore/proof";
import { readIdentities } from "../../crypto/age-identity.ts";
import { ENGINE_SETTINGS } from "../../config/engines/engine-settings.ts";
import type { EngineName, SourceConfig } from "../../config/source-config.ts";
import { UserError } from "../../errors/user-error.ts";
import { listAllReceipts, readEnvelope } from "../../receipts/receipt-files.ts";
import { openContentKey } from "../../runs/content-key.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import { layoutOf } from "../../state/layout.ts";
import type { Call, Run } from "../invocation/command.ts";
import { openRoot } from "../invocation/open-root.ts";
import { findReceipts } from "./find-receipt.ts";

/** Checks that compare a restored copy with digests in a backup's receipt. */
const RECOMPUTED = /^inferred:(?:content|objects|privileges|unrestored|globals|attributes|manifest)(?::|$)/;

/**
 * Recomputes the digests in a backup's receipt from its ciphertext: with an identity, it restores
 * the backup into a throw-away place, reads everything back and compares. It needs no root, no
 * service and no source, only the engine's programs. Nothing is signed.
 */
export const receiptsRecompute: Run = async (call, wanted) => {
  const { terminal, flags, signal } = call;
  const file = flags.text("file");
  if (wanted === undefined || file === undefined)
    throw new UserError("usage", "which backup? Give its receipt, and its ciphertext with --file");
  const { metadata, sha256, backupId } = await backupIn(call, wanted);
  const identity = flags.text("identity");
  const identities = await readIdentities(
    identity === undefined ? openRoot(call).config.identityFiles : [resolve(call.cwd, identity)],
  );
  if ((await openContentKey(metadata, identities)) === null && metadata["manifest_sha256"] === undefined)
    throw new UserError("usage", `the receipt of ${backupId} has no digests of the backup's content`);
  const scratch = await makeScratchDirectory(scratchOf(call), null);
  const line = terminal.progress();
  try {
    const { restoreAndCheck } = await import("../../runs/restore-and-check.ts");
    const tested = await restoreAndCheck({
      source: sourceFor(metadata, backupId),
      ciphertext: { path: resolve(call.cwd, file) },
      sha256,
      identities,
      scratchDir: scratch.path,
      backupMetadata: metadata,
      signal,
      onProgress: ({ phase, bytes, totalBytes }) => line.update(phase, bytes, totalBytes),
    });
    line.clear();
    const checks = tested.checks.filter(({ id }) => RECOMPUTED.test(id));
    const held = checks.length > 0 && checks.every(({ result }) => result === "passed");
    if (flags.isOn("json")) {
      const reason = tested.checks.length === 0 ? (tested.reason ?? null) : null;
      terminal.data(JSON.stringify({ held, reason, backup_id: backupId, checks }));
      return held ? 0 : 1;
    }
    const { good, bad } = terminal.onData;
    if (checks.length === 0)
      terminal.data(`${bad("✗")} ${backupId}: ${tested.reason ?? "nothing could be compared"}`);
    for (const check of checks)
      terminal.data(`${check.result === "passed" ? good("✓") : bad("✗")} ${check.id}  ${digestsOf(check)}`);
    if (checks.length > 0) terminal.data(comparedContentText(checks));
    return held ? 0 : 1;
  } finally {
    line.clear();
    await scratch.remove();
  }
};

function digestsOf({ observed }: CheckOutcome): string {
  const { sha256, signed_sha256: signed, error } = observed;
  if (typeof error === "string") return error;
  const recomputed = typeof sha256 === "string" ? `recomputed ${sha256}` : "compared";
  return typeof signed === "string" ? `${recomputed}, in the receipt ${signed}` : recomputed;
}

interface BackupInReceipt {
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Of the ciphertext. */
  readonly sha256: string;
  readonly backupId: string;
}

/** @throws UserError usage */
async function backupIn(call: Call, wanted: string): Promise<BackupInReceipt> {
  const statement = parseStatement(await payloadOf(call, wanted));
  if (!statement.ok || receiptKind(statement.statement) !== "backup")
    throw new UserError("usage", `${wanted} is not the receipt of a backup`);
  const { predicate, subject } = statement.statement;
  if (!("source_metadata" in predicate))
    throw new UserError("usage", `${wanted} is not the receipt of a backup`);
  return {
    metadata: predicate.source_metadata,
    sha256: subject[0].digest.sha256,
    backupId: predicate.backup_id,
  };
}

/** A receipt's file, or one of this host's receipts. */
async function payloadOf(call: Call, wanted: string): Promise<Uint8Array> {
  const path = resolve(call.cwd, wanted);
  if (!existsSync(path)) {
    const { layout } = openRoot(call);
    const [first] = (await listAllReceipts(layout)).length === 0 ? [] : await findReceipts(layout, wanted);
    if (first === undefined) throw new UserError("usage", `there is no receipt ${wanted}`);
    return (await readEnvelope(first)).payload;
  }
  try {
    const receipt = parseReceipt(await readFile(path));
    return "bundle" in receipt ? envelopeFromJson(receipt.bundle.envelope).payload : receipt.envelope.payload;
  } catch (error) {
    if (error instanceof ProofError)
      throw new UserError("usage", `${path} is not a receipt: ${error.message}`);
    throw error;
  }
}

/** A restore needs only the engine and a sandbox of a source. */
function sourceFor({ engine }: BackupInReceipt["metadata"], backupId: string): SourceConfig {
  const known = (Object.keys(ENGINE_SETTINGS) as EngineName[]).find((name) => name === engine);
  if (known === undefined || known === "dumps" || known === "restic")
    throw new UserError(
      "usage",
      `the receipt of ${backupId} names a backup that another program made and that is stored elsewhere: attestore restore-test compares it`,
    );
  return { slug: "recompute", engine: known, sandbox: "process", checks: [], checkTimeout_s: 60 } as never;
}

function scratchOf({ root }: Call): string {
  return root.config === null || root.resolved === null
    ? join(tmpdir(), "attestore-recompute")
    : layoutOf(root.resolved.path).scratch;
}
