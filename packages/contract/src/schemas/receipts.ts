import { Type, type Static } from "typebox";
import { RotateAgentKeyRequest } from "./agent-keys.ts";
import { Envelope } from "./envelope.ts";
import { inclusionFields, InclusionProof, Leaf, ServiceEvent } from "./log.ts";
import { Count, Id, Sha256, strict, Timestamp } from "./scalars.ts";

export const ReceiptKind = Type.Enum(["backup", "restore_test"]);
export type ReceiptKind = Static<typeof ReceiptKind>;

export const ReceiptResult = Type.Enum(["passed", "failed"]);
export type ReceiptResult = Static<typeof ReceiptResult>;

/** 201 of `POST /v1/receipts`. */
export const ReceiptAccepted = Type.Object({ receipt_id: Id("receipt"), ...inclusionFields }, strict);
export type ReceiptAccepted = Static<typeof ReceiptAccepted>;

const record = {
  id: Id("receipt"),
  created_at: Timestamp,
  org_id: Id("org"),
  kind: ReceiptKind,
  source_id: Id("source"),
  agent_id: Id("agent"),
  backup_id: Id("backup"),
  result: Type.Union([ReceiptResult, Type.Null()]),
  log_index: Count,
  leaf_hash: Sha256,
};

/** The record of a receipt in lists (contract, section 10). `result` is null for a backup. */
export const ReceiptRecord = Type.Object(record, strict);
export type ReceiptRecord = Static<typeof ReceiptRecord>;

/** 200 of `GET /api/receipts/{receiptID}`. */
export const ReceiptDetail = Type.Object({ ...record, envelope: Envelope }, strict);
export type ReceiptDetail = Static<typeof ReceiptDetail>;

/**
 * 200 of `GET /api/receipts/{receiptID}/bundle`: everything that `attestore-verify` needs except
 * the trusted keys.
 */
export const ReceiptBundle = Type.Object(
  {
    envelope: Envelope,
    /**
     * The agent's key in wire form: base64 of 32 bytes (Ed25519) or of a 91-byte SPKI (P-256). A
     * claim, not a reason to trust it.
     */
    public_key: Type.String(),
    leaf: Leaf,
    inclusion_proof: InclusionProof,
    checkpoint: Type.String(),
    log: Type.Object({ origin: Type.String(), verifier_key: Type.String() }, strict),
    /** Of a log that lost entries: the events that began its generations, to the checkpoint's. */
    generations: Type.Optional(Type.Array(ServiceEvent)),
  },
  strict,
);
export type ReceiptBundle = Static<typeof ReceiptBundle>;

/**
 * 200 of `GET /v1/backups/{id}/receipt`: the signed receipt of the agent that made a backup, its
 * proof, and that agent's key rotations, oldest first. A restore checks the backup against it, with
 * keys from elsewhere.
 */
export const MakersReceipt = Type.Object(
  { receipt: ReceiptBundle, rotations: Type.Array(RotateAgentKeyRequest) },
  strict,
);
export type MakersReceipt = Static<typeof MakersReceipt>;
