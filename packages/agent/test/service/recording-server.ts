import { randomBytes } from "node:crypto";
import { newId, type EnvelopeRequest, type EventRequest } from "@attestore/contract";
import {
  canonicalJson,
  envelopeFromJson,
  formatPublicKeyWire,
  keyRotationFromJson,
  parseStatement,
  receiptKind,
  sha256,
  sshFingerprint,
  toHex,
  utf8,
  verifyEnvelope,
  verifyKeyRotation,
  type KeyRotationJson,
  type Leaf,
  type PublicKey,
} from "@attestore/proof";
import type { Certificates } from "./certificates.ts";
import { failure, InterferingServer, json, type JsonAnswer } from "./interfering-server.ts";
import { TestLog } from "./test-log.ts";

/** Records receipts, events and key rotations of one agent in a real log, signatures checked. */
export abstract class RecordingServer extends InterferingServer {
  readonly orgId = newId("org");
  readonly agentId = newId("agent");
  log: TestLog;
  publicKey: PublicKey | null = null;
  /** Keys that the agent replaced. */
  readonly retired: { publicKey: PublicKey; replacedAt: string }[] = [];
  readonly receipts: { receiptId: string; envelope: EnvelopeRequest; idempotencyKey: string | undefined }[] =
    [];
  readonly events: { eventId: string; event: EventRequest; envelope?: EnvelopeRequest }[] = [];
  /** Bundles of backups' receipts, by the backup. */
  protected readonly receiptOf = new Map<string, object>();

  constructor(certificates: Certificates) {
    super(certificates);
    this.log = new TestLog(`log.test/${this.orgId}`);
  }

  /** As a restored older database: what came in since is not known. */
  forgetReceipts(): void {
    this.#recorded.clear();
    this.forgetAnswers();
  }

  /** Those that `interfereWithLine` lets through, one after the other. */
  protected async recordLines(text: string): Promise<JsonAnswer> {
    if (!this.takesLines) return failure(415, "unsupported_media_type", "one at a time");
    const lines = text.trimEnd().split("\n");
    let answers = "";
    for (const [index, line] of lines.entries()) {
      const { status, body } =
        this.interfereWithLine(index) ?? (await this.recordReceipt(JSON.parse(line) as EnvelopeRequest));
      answers += `{"status":${status},"answer":${body}}\n`;
    }
    return { status: 200, body: answers };
  }

  /** False for a service from before several receipts in one call. */
  takesLines = true;
  interfereWithLine: (index: number) => JsonAnswer | undefined = () => undefined;

  readonly #recorded = new Map<string, JsonAnswer>();

  /** An envelope that comes again, with whatever key, is answered as it was. */
  protected async recordReceipt(json_: EnvelopeRequest): Promise<JsonAnswer> {
    const name = JSON.stringify([json_.payload, json_.signatures]);
    const answer = this.#recorded.get(name) ?? (await this.#record(json_));
    if (answer.status === 201) this.#recorded.set(name, answer);
    return answer;
  }

  async #record(json_: EnvelopeRequest): Promise<JsonAnswer> {
    const envelope = envelopeFromJson(json_);
    if (this.publicKey === null) return failure(500, "internal", "no agent");
    const isOld = this.retired.find((key) => sshFingerprint(key.publicKey) === envelope.keyid);
    try {
      await verifyEnvelope(envelope, isOld?.publicKey ?? this.publicKey);
    } catch {
      return failure(422, "receipt_signature_invalid", "the signature does not verify");
    }
    const parsed = parseStatement(envelope.payload);
    if (!parsed.ok) return failure(422, "statement_invalid", JSON.stringify(parsed.issues));
    if (isOld !== undefined && parsed.statement.predicate.finished_at > isOld.replacedAt)
      return failure(422, "receipt_signature_invalid", "the key was replaced before");
    const receiptId = newId("receipt");
    this.receipts.push({ receiptId, envelope: json_, idempotencyKey: undefined });
    const leaf: Leaf = {
      v: 1,
      kind: receiptKind(parsed.statement),
      org_id: this.orgId,
      id: receiptId,
      actor_id: this.agentId,
      recorded_at: new Date().toISOString(),
      body_sha256: toHex(sha256(envelope.payload)),
      signature: Buffer.from(envelope.signature).toString("base64"),
    };
    const placed = this.place(leaf);
    if (leaf.kind === "backup")
      this.receiptOf.set(parsed.statement.predicate.backup_id, {
        envelope: json_,
        public_key: formatPublicKeyWire(isOld?.publicKey ?? this.publicKey),
        leaf,
        inclusion_proof: placed.inclusion_proof,
        checkpoint: placed.checkpoint,
        log: { origin: this.log.verifier.name, verifier_key: this.log.verifierKey },
      });
    return json(201, { receipt_id: receiptId, ...placed });
  }

  protected async rotateKey(json_: KeyRotationJson): Promise<JsonAnswer> {
    const { before, after, rotatedAt, agentId } = await verifyKeyRotation(keyRotationFromJson(json_));
    const answer = json(200, {
      agent_id: agentId,
      public_key: formatPublicKeyWire(after),
      key_fingerprint: sshFingerprint(after),
      valid_from: rotatedAt,
      valid_until: null,
      rotation: null,
    });
    const current = this.publicKey === null ? "" : sshFingerprint(this.publicKey);
    if (current === sshFingerprint(after)) return answer;
    if (current !== sshFingerprint(before)) return failure(409, "conflict", "it begins with another key");
    this.retired.push({ publicKey: before, replacedAt: rotatedAt });
    this.publicKey = after;
    return answer;
  }

  protected async recordEvent({ envelope, ...event }: EventRequest): Promise<JsonAnswer> {
    const eventId = newId("event");
    const signed = envelope === undefined ? null : envelopeFromJson(envelope);
    if (signed !== null) {
      const isOld = this.retired.find((key) => sshFingerprint(key.publicKey) === signed.keyid);
      const key = isOld?.publicKey ?? this.publicKey;
      if (key === null) return failure(500, "internal", "no agent");
      await verifyEnvelope(signed, key);
    }
    this.events.push({ eventId, event, ...(envelope === undefined ? {} : { envelope }) });
    const leaf: Leaf = {
      v: 1,
      kind: event.kind,
      org_id: this.orgId,
      id: eventId,
      actor_id: this.agentId,
      recorded_at: new Date().toISOString(),
      body_sha256: toHex(sha256(signed?.payload ?? utf8(canonicalJson(event)))),
      ...(signed === null ? {} : { signature: Buffer.from(signed.signature).toString("base64") }),
    };
    return json(201, { event_id: eventId, ...this.place(leaf) });
  }

  /** How many other entries each batch has after one. */
  others = 0;

  place(leaf: Leaf) {
    const index = this.log.append(leaf);
    for (let i = 0; i < this.others; i++) this.log.appendHash(sha256(randomBytes(32)));
    const proof = this.log.inclusion(index);
    return {
      log_index: index,
      leaf,
      leaf_hash: toHex(this.log.hashAt(index)),
      log_id: this.log.verifier.name,
      inclusion_proof: proof,
      checkpoint: this.log.checkpoint(),
    };
  }

  protected proof(query: URLSearchParams): JsonAnswer {
    const size = Number(query.get("tree_size"));
    const from = query.get("from");
    const leaf = Number(query.get("leaf"));
    if (size > this.log.size || leaf >= size) return failure(404, "not_found", "no such tree");
    return json(200, {
      inclusion: this.log.inclusion(leaf, size),
      consistency: from === null ? null : this.log.consistency(Number(from), size),
      checkpoint: this.log.checkpoint(size),
    });
  }
}
