import {
  parseEnvelope,
  parseRecordedStatement,
  ProofError,
  publicKeyFromBytes,
  receiptKind,
  sha256,
  sshFingerprint,
  toBase64,
  toHex,
  verifyEnvelope,
  type Envelope,
  type PublicKey,
} from "@attestore/proof";
import { envelopeSha256 } from "../envelope-sha256.ts";
import { plainArray } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";
import type { Check, ParsedLeaf } from "./check.ts";
import { compareFields } from "./compare-fields.ts";

interface ReceiptRow {
  id: string;
  org_id: string;
  kind: string;
  source_id: string;
  agent_id: string;
  backup_id: string;
  result: string | null;
  envelope_sha256: Buffer;
  payload_sha256: Buffer;
  previous_receipt_sha256: Buffer | null;
  /** Null if it is in the archive. */
  envelope: Buffer | null;
  archived_in: Buffer | null;
  archived_start: number | null;
  archived_length: number | null;
  log_index: number;
  leaf_hash: Buffer;
  created_at: Date;
  happened_at: Date;
}

/** An agent of the organisation. */
interface Signer {
  id: string;
  public_key: Buffer;
  /** The agent's earlier keys, as JSON; null for none. */
  retired_keys: readonly { public_key: string; replaced_at: string }[] | null;
}

/** A receipt, and who is said to have signed it: null if the organisation has no such agent. */
export interface SignedReceipt {
  receipt: ReceiptRow;
  signer: Signer | null;
}

// By itself: an engine that spreads receipts over machines joins no other table with them.
const RECEIPTS: PreparedQuery = {
  name: "fsck_receipts",
  text: `select id, org_id, kind, source_id, agent_id, backup_id, result, envelope_sha256, payload_sha256,
      previous_receipt_sha256, envelope, archived_in, archived_start, archived_length, log_index, leaf_hash, created_at,
      happened_at
    from receipts where id = any($1::text[])`,
};

const SIGNERS: PreparedQuery = {
  name: "fsck_signers",
  text: `select id, public_key,
      (select jsonb_agg(jsonb_build_object('public_key', encode(retired.public_key, 'hex'), 'replaced_at', retired.replaced_at))
        from agent_retired_keys as retired where retired.agent_id = agents.id) as retired_keys
    from agents where org_id = $1 and id = any($2::text[])`,
};

export async function readReceipts(
  session: SqlSession,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, SignedReceipt>> {
  const receipts = await session.run<ReceiptRow & Record<string, unknown>>(RECEIPTS, [plainArray(ids)]);
  const agents = [...new Set(receipts.map(({ agent_id }) => agent_id))];
  // As a value and not as a literal: a damaged row may hold anything.
  const rows = await session.run<Signer & Record<string, unknown>>(SIGNERS, [orgId, agents]);
  const signers = new Map(rows.map((row) => [row.id, row]));
  return new Map(
    receipts.map((receipt) => [receipt.id, { receipt, signer: signers.get(receipt.agent_id) ?? null }]),
  );
}

/** @param archived the envelopes that were read from the archive, or what is wrong with them */
export async function checkReceipt(
  { report }: Check,
  { row, leaf }: ParsedLeaf,
  found: SignedReceipt | undefined,
  archived: ReadonlyMap<string, Buffer | string>,
): Promise<void> {
  if (found === undefined)
    return report("entry_missing", `leaf ${row.log_index} refers to ${leaf.id}, which is missing`);
  const { receipt } = found;
  const bytes = receipt.envelope ?? archived.get(receipt.id) ?? "its envelope is nowhere";
  if (typeof bytes === "string") return report("envelope", `${receipt.id}: ${bytes}`);
  const envelope = await readEnvelope(found, bytes, (why) => report("envelope", `${receipt.id}: ${why}`));
  if (envelope === null) return;
  const parsed = parseRecordedStatement(envelope.payload);
  if (!parsed.ok) return report("envelope", `${receipt.id}: its statement is invalid`);
  const { predicate } = parsed.statement;
  const digest = sha256(envelope.payload);
  const payloadSha256 = toHex(digest);
  compareFields(report, receipt.id, {
    org_id: [receipt.org_id, leaf.org_id],
    kind: [receipt.kind, leaf.kind],
    agent_id: [receipt.agent_id, leaf.actor_id],
    log_index: [receipt.log_index, row.log_index],
    leaf_hash: [toHex(receipt.leaf_hash), toHex(row.leaf_hash)],
    created_at: [receipt.created_at.toISOString(), leaf.recorded_at],
    happened_at: [receipt.happened_at.toISOString(), earlier(predicate.finished_at, leaf.recorded_at)],
    payload: [payloadSha256, leaf.body_sha256],
    payload_sha256: [toHex(receipt.payload_sha256), payloadSha256],
    signature: [toBase64(envelope.signature), leaf.signature],
    envelope_sha256: [toHex(receipt.envelope_sha256), toHex(envelopeSha256(digest, envelope))],
    "statement's kind": [receiptKind(parsed.statement), leaf.kind],
    "statement's org_id": [predicate.org_id, receipt.org_id],
    "statement's agent_id": [predicate.agent_id, receipt.agent_id],
    source_id: [receipt.source_id, predicate.source_id],
    backup_id: [receipt.backup_id, predicate.backup_id],
    result: [receipt.result, "result" in predicate ? predicate.result : null],
    previous_receipt_sha256: [
      receipt.previous_receipt_sha256?.toString("hex") ?? null,
      predicate.previous_receipt_sha256,
    ],
  });
}

const earlier = (a: string, b: string): string => (a < b ? a : b);

/** The envelope, if it is valid and the agent signed it. */
async function readEnvelope(
  { receipt, signer }: SignedReceipt,
  bytes: Buffer,
  refuse: (why: string) => void,
): Promise<Envelope | null> {
  if (signer === null) {
    refuse(`its agent ${receipt.agent_id} is missing`);
    return null;
  }
  try {
    const envelope = parseEnvelope(bytes);
    const current = publicKeyFromBytes(new Uint8Array(signer.public_key));
    const earlier = retiredKey(signer, envelope);
    await verifyEnvelope(envelope, earlier?.key ?? current);
    if (earlier !== null && endedAfter(envelope, earlier.replacedAt)) {
      refuse("it is signed with a key that was replaced before the run ended");
      return null;
    }
    return envelope;
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    refuse(error.message);
    return null;
  }
}

/** The agent's earlier key that the envelope names. */
function retiredKey(
  { retired_keys }: Signer,
  { keyid }: Envelope,
): { key: PublicKey; replacedAt: Date } | null {
  for (const { public_key, replaced_at } of retired_keys ?? []) {
    const key = publicKeyFromBytes(new Uint8Array(Buffer.from(public_key, "hex")));
    if (sshFingerprint(key) === keyid) return { key, replacedAt: new Date(replaced_at) };
  }
  return null;
}

function endedAfter({ payload }: Envelope, moment: Date): boolean {
  const parsed = parseRecordedStatement(payload);
  return parsed.ok && parsed.statement.predicate.finished_at > moment.toISOString();
}
