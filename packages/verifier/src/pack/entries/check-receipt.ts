import { countsAt, MAX_BUNDLE_SIZE, parseBundle, receiptFile, verifyReceipt } from "@attestore/proof";
import type { KnownAgent } from "../agents/read-agents.ts";
import type { PackLog } from "../log/pack-log.ts";
import { type Named, requirePlace, signingKey } from "./entry-place.ts";
import type { Findings } from "../findings.ts";
import { keptDraw, keptStatement, type KeptStatement } from "./kept-statement.ts";
import type { PackFiles } from "../files/pack-files.ts";

export interface CheckedReceipt {
  /** The number of its file. */
  file: number;
  id: string;
  logIndex: number;
  recordedAt: string;
  bodySha256: string;
  statement: KeptStatement;
  /** The fingerprint of the key that signed it. */
  keyFingerprint: string;
  /** Whether it is from before the period, and in the pack because something in it refers to it. */
  isEarlier: boolean;
}

/**
 * Checks one receipt by itself. Returns null and adds a finding if it does not hold, or `unread` if
 * a later version may know it.
 */
export async function checkReceipt(
  files: PackFiles,
  findings: Findings,
  log: PackLog,
  agents: ReadonlyMap<string, KnownAgent>,
  named: Named,
): Promise<CheckedReceipt | "unread" | null> {
  const { file, id, index } = named;
  const path = receiptFile(id);
  const bundle = await files.parsed("receipts", path, MAX_BUNDLE_SIZE, (bytes) => {
    const parsed = parseBundle(bytes);
    requirePlace(parsed, named, log);
    return parsed;
  });
  if (bundle === null) return null;
  const agent = agents.get(bundle.leaf.actor_id);
  if (agent === undefined) {
    findings.fail("receipts", `${path}: the pack has no key of its signer ${bundle.leaf.actor_id}`);
    return null;
  }
  const key = signingKey(agent, bundle.envelope);
  const { verdict, statement, checks } = await verifyReceipt({
    bundle,
    publicKey: key.publicKey,
    logKey: log.key,
    // `requirePlace` has compared it with the bundle's.
    openedCheckpoint: { note: log.checkpoint, log: log.key },
    rollbacks: log.generations.rollbacks,
    requireLog: true,
  });
  if (verdict === "cannot_tell") {
    const open = checks.find((check) => check.id === "statement" && check.result === "not_checked");
    findings.leaveOpen("receipts", `${path}: ${open?.detail ?? "some of it could not be checked"}`);
    return "unread";
  }
  if (verdict !== "true" || statement === undefined) {
    const failed = checks.filter(({ result }) => result === "failed");
    findings.fail("receipts", `${path}: ${failed.map((check) => `${check.id}: ${check.detail}`).join(", ")}`);
    return null;
  }
  if (!countsAt(key, statement.predicate.finished_at)) {
    findings.fail("receipts", `${path}: it is signed with a key that was replaced before the run ended`);
    return null;
  }
  return {
    file,
    id,
    logIndex: bundle.inclusion_proof.log_index,
    recordedAt: bundle.leaf.recorded_at,
    bodySha256: bundle.leaf.body_sha256,
    statement: keptStatement(statement, await keptDraw(statement, log.key)),
    keyFingerprint: key.fingerprint,
    isEarlier: index === undefined,
  };
}
