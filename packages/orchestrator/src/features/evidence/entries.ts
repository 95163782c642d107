import {
  type EnvelopeJson,
  type EventBundle,
  eventFile,
  formatVerifierKey,
  type LoggedEvent,
  parseEnvelope,
  parseLeaf,
  parseRecordedStatement,
  type Predecessor,
  receiptFile,
  toHex,
  type EvidenceTally,
  type Leaf,
  type ReceiptBundle,
  type Statement,
} from "@attestore/proof";
import type { ArchivedEnvelopes } from "../../log/archive/archived-envelopes.ts";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { LogCorruption } from "../../log/log-corruption.ts";
import { logVerifier } from "../../log/checkpoints/log-keys.ts";
import { transactionSession } from "../../platform/database/sql-session.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { PackFile } from "./zip/zip-writer.ts";
import type { Snapshot } from "./snapshot.ts";
import { type LeafRow, readEventBodies, readReceiptBodies, type ReceiptBody } from "./store.ts";
import type { TreeReader } from "./tree-reader.ts";

/** An entry of the log with what its leaf covers. */
export type Entry = { logIndex: number; leaf: Leaf } & (
  | { receipt: ReceiptBody; keyid: string; statement: Statement }
  | { event: LoggedEvent; envelope?: EnvelopeJson }
);

/**
 * Looks up what these leaves cover. Throws LogCorruption if something is missing, and FetchFirst if
 * something is in the archive.
 */
export async function readEntries(
  tx: DatabaseTransaction,
  envelopes: ArchivedEnvelopes,
  orgId: string,
  leaves: readonly { logIndex: number; leaf: Leaf }[],
): Promise<Entry[]> {
  const ids = leaves.map(({ leaf }) => leaf.id);
  const receipts = await readReceiptBodies(
    tx,
    envelopes,
    orgId,
    ids.filter((id) => id.startsWith("rcpt_")),
  );
  const events = await readEventBodies(
    tx,
    orgId,
    ids.filter((id) => id.startsWith("evt_")),
  );
  return leaves.map(({ logIndex, leaf }): Entry => {
    const receipt = receipts.get(leaf.id);
    if (receipt !== undefined) return { logIndex, leaf, receipt, ...signedIn(receipt, logIndex) };
    const found = events.get(leaf.id);
    if (found === undefined)
      throw new LogCorruption(
        "log_incomplete",
        `leaf ${logIndex} of ${orgId} covers ${leaf.id}, which is missing`,
      );
    const event = JSON.parse(found.body.toString("utf8")) as LoggedEvent;
    if (found.envelope === null) return { logIndex, leaf, event };
    const envelope = JSON.parse(found.envelope.toString("utf8")) as EnvelopeJson;
    return { logIndex, leaf, event, envelope };
  });
}

export function placed({ log_index, leaf }: LeafRow): { logIndex: number; leaf: Leaf } {
  return { logIndex: log_index, leaf: parseLeaf(leaf) };
}

function signedIn({ id, envelope }: ReceiptBody, logIndex: number): { keyid: string; statement: Statement } {
  const { keyid, payload } = parseEnvelope(envelope);
  const parsed = parseRecordedStatement(payload);
  if (!parsed.ok)
    throw new LogCorruption("log_incomplete", `leaf ${logIndex} covers ${id}, which is malformed`);
  return { keyid, statement: parsed.statement };
}

export function tallyEntry(tally: EvidenceTally, entry: Entry): void {
  const { id, recorded_at: recordedAt, actor_id: actorId } = entry.leaf;
  if (!tally.isInPeriod(recordedAt)) return;
  if ("receipt" in entry) tally.addReceipt({ id, recordedAt, statement: entry.statement });
  else tally.addEvent({ id, recordedAt, actorId, event: entry.event });
}

/** A leaf with its inclusion proof in the pack's checkpoint. */
export async function proofInPack(
  tx: DatabaseTransaction,
  signer: CheckpointSigner,
  tree: TreeReader,
  { head }: Snapshot,
  { logIndex, leaf }: Pick<Entry, "logIndex" | "leaf">,
): Promise<Predecessor> {
  const hashes = await tree.inclusion(transactionSession(tx), logIndex);
  return {
    leaf,
    inclusion_proof: { log_index: logIndex, tree_size: head.size, hashes: hashes.map(toHex) },
    checkpoint: head.checkpoint,
    log: {
      origin: head.origin,
      verifier_key: formatVerifierKey(logVerifier(signer.identity, head.origin)),
    },
  };
}

/** An entry as a file: its bundle, with its inclusion proof in the pack's checkpoint. */
export async function bundleFile(
  tx: DatabaseTransaction,
  signer: CheckpointSigner,
  tree: TreeReader,
  snapshot: Snapshot,
  entry: Entry,
): Promise<PackFile> {
  const proof = await proofInPack(tx, signer, tree, snapshot, entry);
  if ("event" in entry) {
    const bundle: EventBundle = {
      event: entry.event,
      ...(entry.envelope === undefined ? {} : { envelope: entry.envelope }),
      ...proof,
    };
    return jsonFile(eventFile(entry.leaf.id), bundle);
  }
  const publicKey = snapshot.signingKeys.get(entry.keyid);
  if (publicKey === undefined)
    throw new LogCorruption(
      "log_incomplete",
      `${entry.leaf.id} is signed with ${entry.keyid}, which is no agent's key`,
    );
  const bundle: ReceiptBundle = {
    envelope: JSON.parse(entry.receipt.envelope.toString("utf8")) as ReceiptBundle["envelope"],
    public_key: publicKey,
    ...proof,
  };
  return jsonFile(receiptFile(entry.leaf.id), bundle);
}

/** One line: programs read it; `jq .` shows it to people. */
export function jsonFile(path: string, content: object): PackFile {
  return { path, bytes: Buffer.from(`${JSON.stringify(content)}\n`) };
}
