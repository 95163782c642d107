import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  newId,
  type BackupRecord,
  type ConfigAnswer,
  type DeliveredCommand,
  type EnvelopeRequest,
  type EventRequest,
  type HeartbeatRequest,
  type ProgressReport,
  type RegisterBackupRequest,
} from "@attestore/contract";
import {
  canonicalJson,
  envelopeFromJson,
  formatPublicKeyWire,
  keyRotationFromJson,
  parsePublicKeyWire,
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
import { makeCertificates, type Certificates } from "./certificates.ts";
import { TestLog } from "./test-log.ts";

/**
 * Answers in the place of the service: a whole answer, a cut connection, or (undefined) what the
 * service says; now, or in time.
 */
export type Interference = (request: {
  route: string;
  body: string;
  idempotencyKey: string | undefined;
}) => Intervention | Promise<Intervention>;
type Intervention =
  | { status: number; body: string; headers?: Record<string, string> }
  | "cut"
  | "cut-after"
  | undefined;

export interface SeenCall {
  readonly route: string;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
}

/** One set for all services of a test file: to make it takes three programs. */
let usual: Certificates | undefined;

/**
 * A small service that speaks the contract over real TLS, with a real log, real signatures checked,
 * and idempotency. It keeps everything in memory and can be told to misbehave.
 */
export class TestService {
  readonly certificates: Certificates;
  readonly orgId = newId("org");
  readonly agentId = newId("agent");
  readonly token = `ats_${randomBytes(32).toString("base64url")}`;
  readonly authKey = `atk_0123456789_${randomBytes(24).toString("base64url")}`;
  log: TestLog;
  publicKey: PublicKey | null = null;
  /** Keys that the agent replaced. */
  readonly retired: { publicKey: PublicKey; replacedAt: string }[] = [];
  interfere: Interference = () => undefined;
  /** Commands for the next heartbeats, until they are acked. */
  commands: DeliveredCommand[] = [];
  /** Requests for every heartbeat until they are answered: anything, to every agent. */
  configRequests: { id: string; [more: string]: unknown }[] = [];
  readonly configAnswers = new Map<string, ConfigAnswer>();
  readonly calls: SeenCall[] = [];
  readonly heartbeats: HeartbeatRequest[] = [];
  /** By command; only where `letsWait`. */
  readonly progress: [string, ProgressReport][] = [];
  readonly sources = new Map<string, string>();
  /** Slugs whose backups another agent makes, and which one. */
  readonly ownedByOthers = new Map<string, string>();
  /** Slugs of removed sources. */
  readonly removed = new Set<string>();
  readonly objects = new Map<string, Buffer>();
  readonly uploads = new Map<string, { sha256: string; size_bytes: number; source_id: string }>();
  readonly backups = new Map<string, BackupRecord>();
  readonly receipts: { receiptId: string; envelope: EnvelopeRequest; idempotencyKey: string | undefined }[] =
    [];
  readonly events: { eventId: string; event: EventRequest; envelope?: EnvelopeRequest }[] = [];
  approved: "pending" | "approved" | "denied" = "pending";
  intervalS = 1;
  /** Whether it holds requests for commands; otherwise it does not know them. */
  letsWait = false;
  readonly #server: Server;
  readonly #answers = new Map<string, { fingerprint: string; status: number; body: string }>();

  constructor(certificates: Certificates) {
    this.certificates = certificates;
    this.log = new TestLog(`log.test/${this.orgId}`);
    this.#server = createServer(
      { key: certificates.key, cert: certificates.cert, minVersion: "TLSv1.3" },
      (request, response) => {
        this.#handle(request, response).catch((error: unknown) => {
          if (!response.headersSent) {
            const { status, body } = failure(500, "internal", String(error));
            response.writeHead(status, { "content-type": "application/json" }).end(body);
          }
        });
      },
    );
  }

  static async start(certificates = (usual ??= makeCertificates()), port = 0): Promise<TestService> {
    const service = new TestService(certificates);
    await service.listen(port);
    return service;
  }

  async listen(port: number): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }
  get url(): string {
    return `https://localhost:${this.port}`;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  command(kind: "backup" | "restore_test", slug: string, engine: string, params = {}): DeliveredCommand {
    const command: DeliveredCommand = {
      id: newId("command"),
      kind,
      source: { id: this.sourceId(slug), slug, engine },
      params,
      issued_at: new Date().toISOString(),
      attempt: 1,
    };
    this.commands.push(command);
    return command;
  }

  sourceId(slug: string): string {
    const id = this.sources.get(slug) ?? newId("source");
    this.sources.set(slug, id);
    return id;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const route = `${request.method} ${url.pathname}`;
    const header = request.headers["idempotency-key"];
    const idempotencyKey = typeof header === "string" ? header : undefined;
    const isObject = url.pathname.startsWith("/objects/");
    const body = isObject ? "" : raw.toString();
    this.calls.push({ route, idempotencyKey, body });

    const interference = await this.interfere({ route, body, idempotencyKey });
    if (interference === "cut") {
      request.socket.destroy();
      return;
    }
    if (typeof interference === "object") {
      response.writeHead(interference.status, interference.headers ?? {}).end(interference.body);
      return;
    }
    if (isObject) {
      this.#object(request, response, url, raw);
      return;
    }
    const { status, body: answer } = await this.#once(request, url, body, idempotencyKey);
    // The effect is there and the client does not hear of it.
    if (interference === "cut-after") {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { "content-type": "application/json" }).end(answer);
  }

  async #once(
    request: IncomingMessage,
    url: URL,
    body: string,
    key: string | undefined,
  ): Promise<{ status: number; body: string }> {
    const credential = request.headers.authorization?.replace("Bearer ", "") ?? "";
    const fingerprint = `${request.method} ${url.pathname} ${body}`;
    const scope = `${credential} ${key}`;
    const before = key === undefined ? undefined : this.#answers.get(scope);
    if (before !== undefined) {
      return before.fingerprint === fingerprint
        ? before
        : failure(409, "idempotency_key_reused", "another body under this key");
    }
    if (this.letsWait && url.pathname === "/v1/commands") await this.#hold(request, url);
    const answer = await this.#answer(request.method ?? "", url, body, credential);
    if (key !== undefined && answer.status < 500 && answer.status !== 401)
      this.#answers.set(scope, { fingerprint, ...answer });
    return answer;
  }

  async #answer(
    method: string,
    url: URL,
    text: string,
    credential: string,
  ): Promise<{ status: number; body: string }> {
    const body = (): unknown => JSON.parse(text);
    const path = url.pathname;
    if (path === "/api/bootstrap/attach") {
      if (credential !== this.authKey) return failure(401, "auth_key_invalid", "unknown key");
      this.publicKey = parsePublicKeyWire((body() as { public_key: string }).public_key);
      return json(201, this.#attached());
    }
    if (path === "/api/bootstrap/start") {
      this.publicKey = parsePublicKeyWire((body() as { public_key: string }).public_key);
      return json(201, {
        code: "ABCD-2345",
        poll_token: `atp_${"a".repeat(43)}`,
        attach_url: `${this.url}/attach/ABCD-2345`,
        expires_at: new Date(Date.now() + 900_000).toISOString(),
        interval_s: 1,
      });
    }
    if (path.startsWith("/api/bootstrap/atp_")) {
      if (this.approved === "approved") return json(200, this.#attached());
      if (this.approved === "denied") return failure(403, "attach_denied", "denied");
      return json(202, { status: "pending" });
    }
    if (credential !== this.token) return failure(401, "unauthenticated", "no valid credential");
    if (this.letsWait && path === "/v1/commands") return json(200, { queued: this.#hasWork });
    const progressOf = /^\/v1\/commands\/(cmd_\w+)\/progress$/.exec(path)?.[1];
    if (this.letsWait && progressOf !== undefined) {
      this.progress.push([progressOf, body() as ProgressReport]);
      return json(200, { next_s: 1 });
    }
    const answerTo = /^\/v1\/config-requests\/(cfg_\w+)\/answer$/.exec(path)?.[1];
    if (answerTo !== undefined) {
      this.configAnswers.set(answerTo, body() as ConfigAnswer);
      this.configRequests = this.configRequests.filter(({ id }) => id !== answerTo);
      return json(200, { id: answerTo });
    }
    if (method === "POST" && path === "/v1/heartbeat") return this.#heartbeat(body() as HeartbeatRequest);
    if (method === "POST" && path === "/v1/backups/upload-url") {
      const asked = body() as { sha256: string; size_bytes: number; source_id: string };
      const id = newId("upload");
      this.uploads.set(id, asked);
      return json(201, {
        upload_id: id,
        object_key: id,
        upload_url: `${this.url}/objects/${id}?sig=x`,
        method: "PUT",
        headers: { "x-amz-checksum-sha256": Buffer.from(asked.sha256, "hex").toString("base64") },
        expires_at: new Date(Date.now() + 900_000).toISOString(),
      });
    }
    if (method === "POST" && path === "/v1/backups") return this.#register(body() as RegisterBackupRequest);
    const downloadOf = /^\/v1\/backups\/(bkp_\w+)\/download-url$/.exec(path)?.[1];
    if (downloadOf !== undefined) {
      const backup = this.backups.get(downloadOf);
      if (backup === undefined) return failure(404, "not_found", "no such backup");
      const { id, source_id, sha256: digest, size_bytes, cipher, source_metadata } = backup;
      return json(200, {
        download_url: `${this.url}/objects/${this.#objectOf.get(id)}?sig=x`,
        expires_at: new Date(Date.now() + 900_000).toISOString(),
        backup: { id, source_id, sha256: digest, size_bytes, cipher, source_metadata },
      });
    }
    const receiptOf = /^\/v1\/backups\/(bkp_\w+)\/receipt$/.exec(path)?.[1];
    if (receiptOf !== undefined) {
      const receipt = this.#receiptOf.get(receiptOf);
      return receipt === undefined
        ? failure(404, "not_found", "no such receipt")
        : json(200, { receipt, rotations: [] });
    }
    const keptOf = /^\/v1\/sources\/(src_\w+)\/backups$/.exec(path)?.[1];
    if (keptOf !== undefined) {
      const kept = [...this.backups.values()].filter(
        ({ id, source_id }) => source_id === keptOf && this.#receiptOf.has(id),
      );
      const after = url.searchParams.get("cursor") ?? "";
      const ids = kept.map(({ id }) => id).filter((id) => id > after);
      const page = ids.toSorted().slice(0, 2);
      return json(200, { backup_ids: page, next_cursor: page.length < 2 ? null : page[1] });
    }
    if (method === "POST" && path === "/v1/receipts" && text.includes("\n")) return this.#receipts(text);
    if (method === "POST" && path === "/v1/receipts") return this.#receipt(body() as EnvelopeRequest);
    if (method === "POST" && path === "/v1/agent/key") return this.#rotate(body() as KeyRotationJson);
    if (method === "POST" && path === "/v1/events") return this.#event(body() as EventRequest);
    if (method === "GET" && path === "/v1/log/head") {
      return json(200, {
        log_id: this.log.verifier.name,
        tree_size: this.log.size,
        root_hash: toHex(this.log.rootHash),
        timestamp: new Date().toISOString(),
        checkpoint: this.log.checkpoint(),
      });
    }
    if (method === "GET" && path === "/v1/log/generations")
      return json(200, {
        began: this.log.began,
        lost: this.log.lost.filter(
          ({ event }) => event.detail["tree_size"] === Number(url.searchParams.get("tree_size")),
        ),
      });
    if (method === "GET" && path === "/v1/log/proof") return this.#proof(url.searchParams);
    return failure(404, "not_found", `no ${path}`);
  }

  /** As a restored older database: what came in since is not known. */
  forgetReceipts(): void {
    this.#recorded.clear();
    this.#answers.clear();
  }

  get #hasWork(): boolean {
    return this.commands.length > 0 || this.configRequests.length > 0;
  }

  async #hold(request: IncomingMessage, url: URL): Promise<void> {
    const end = performance.now() + Number(url.searchParams.get("wait_s")) * 1000;
    while (!this.#hasWork && performance.now() < end && !request.socket.destroyed) await pause(10);
  }

  readonly #objectOf = new Map<string, string>();
  /** Bundles of backups' receipts, by the backup. */
  readonly #receiptOf = new Map<string, object>();

  #attached(): unknown {
    return {
      agent_id: this.agentId,
      org_id: this.orgId,
      api_token: this.token,
      log: { origin: this.log.verifier.name, verifier_key: this.log.verifierKey },
      heartbeat_interval_s: this.intervalS,
    };
  }

  #heartbeat(beat: HeartbeatRequest): { status: number; body: string } {
    this.heartbeats.push(beat);
    const acked = new Set(beat.acks.map(({ command_id }) => command_id));
    this.commands = this.commands.filter(({ id }) => !acked.has(id));
    return json(200, {
      server_time: new Date().toISOString(),
      next_interval_s: this.intervalS,
      commands: this.commands,
      log_head: this.log.checkpoint(),
      ...(this.configRequests.length === 0 ? {} : { config_requests: this.configRequests }),
      sources: beat.sources
        .filter(({ slug }) => !this.removed.has(slug))
        .map(({ slug }) => ({
          id: this.sourceId(slug),
          slug,
          ...(this.ownedByOthers.has(slug) ? { agent_id: this.ownedByOthers.get(slug) } : {}),
        })),
    });
  }

  #register(wanted: RegisterBackupRequest): { status: number; body: string } {
    const upload = this.uploads.get(wanted.upload_id);
    const stored = this.objects.get(wanted.upload_id);
    if (upload === undefined || stored === undefined) return failure(422, "object_missing", "no object");
    const digest = createHash("sha256").update(stored).digest("hex");
    if (digest !== upload.sha256) return failure(422, "object_mismatch", "other bytes");
    const record: BackupRecord = {
      id: newId("backup"),
      created_at: new Date().toISOString(),
      org_id: this.orgId,
      source_id: wanted.source_id,
      agent_id: this.agentId,
      sha256: digest,
      size_bytes: stored.length,
      cipher: wanted.cipher,
      source_metadata: wanted.source_metadata,
      status: "available",
      proven_at: null,
      expires_at: null,
    };
    this.backups.set(record.id, record);
    this.#objectOf.set(record.id, wanted.upload_id);
    return json(201, record);
  }

  /** The stored bytes of a backup, to damage or remove. */
  objectKey(backupId: string): string {
    return this.#objectOf.get(backupId) ?? "";
  }

  /** Those that `interfereWithLine` lets through, one after the other. */
  async #receipts(text: string): Promise<{ status: number; body: string }> {
    if (!this.takesLines) return failure(415, "unsupported_media_type", "one at a time");
    const lines = text.trimEnd().split("\n");
    let answers = "";
    for (const [index, line] of lines.entries()) {
      const { status, body } =
        this.interfereWithLine(index) ?? (await this.#receipt(JSON.parse(line) as EnvelopeRequest));
      answers += `{"status":${status},"answer":${body}}\n`;
    }
    return { status: 200, body: answers };
  }

  /** False for a service from before several receipts in one call. */
  takesLines = true;
  interfereWithLine: (index: number) => { status: number; body: string } | undefined = () => undefined;

  readonly #recorded = new Map<string, { status: number; body: string }>();

  /** An envelope that comes again, with whatever key, is answered as it was. */
  async #receipt(json_: EnvelopeRequest): Promise<{ status: number; body: string }> {
    const name = JSON.stringify([json_.payload, json_.signatures]);
    const answer = this.#recorded.get(name) ?? (await this.#record(json_));
    if (answer.status === 201) this.#recorded.set(name, answer);
    return answer;
  }

  async #record(json_: EnvelopeRequest): Promise<{ status: number; body: string }> {
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
      this.#receiptOf.set(parsed.statement.predicate.backup_id, {
        envelope: json_,
        public_key: formatPublicKeyWire(isOld?.publicKey ?? this.publicKey),
        leaf,
        inclusion_proof: placed.inclusion_proof,
        checkpoint: placed.checkpoint,
        log: { origin: this.log.verifier.name, verifier_key: this.log.verifierKey },
      });
    return json(201, { receipt_id: receiptId, ...placed });
  }

  async #rotate(json_: KeyRotationJson): Promise<{ status: number; body: string }> {
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

  async #event({ envelope, ...event }: EventRequest): Promise<{ status: number; body: string }> {
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

  #proof(query: URLSearchParams): { status: number; body: string } {
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

  #object(request: IncomingMessage, response: ServerResponse, url: URL, raw: Buffer): void {
    const key = url.pathname.slice("/objects/".length);
    if (request.method === "PUT") {
      const upload = this.uploads.get(key);
      const refused = upload === undefined || Number(request.headers["content-length"]) !== upload.size_bytes;
      if (!refused) this.objects.set(key, raw);
      response.writeHead(refused ? 403 : 200, { etag: '"etag"' }).end();
      return;
    }
    const stored = this.objects.get(key);
    if (stored === undefined) {
      response.writeHead(404).end("<Error/>");
      return;
    }
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const headers = { etag: '"etag"', "content-length": stored.length - start };
    if (start > 0) {
      const range = `bytes ${start}-${stored.length - 1}/${stored.length}`;
      response.writeHead(206, { ...headers, "content-range": range });
    } else response.writeHead(200, headers);
    response.end(stored.subarray(start));
  }
}

export function failure(status: number, error: string, message: string): { status: number; body: string } {
  return json(status, { error, message, request_id: newId("request"), details: {} });
}

function json(status: number, body: unknown): { status: number; body: string } {
  return { status, body: JSON.stringify(body) };
}
