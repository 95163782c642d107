import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
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
import { parsePublicKeyWire, toHex, type KeyRotationJson } from "@attestore/proof";
import { makeCertificates, type Certificates } from "./certificates.ts";
import { failure, json, type JsonAnswer } from "./interfering-server.ts";
import { RecordingServer } from "./recording-server.ts";

export { failure };

/** One set for all services of a test file: to make it takes three programs. */
let usual: Certificates | undefined;

/**
 * A small service that speaks the contract over real TLS, with a real log, real signatures checked,
 * and idempotency. It keeps everything in memory and can be told to misbehave.
 */
export class TestService extends RecordingServer {
  readonly token = `ats_${randomBytes(32).toString("base64url")}`;
  readonly authKey = `atk_0123456789_${randomBytes(24).toString("base64url")}`;
  /** Commands for the next heartbeats, until they are acked. */
  commands: DeliveredCommand[] = [];
  /** Requests for every heartbeat until they are answered: anything, to every agent. */
  configRequests: { id: string; [more: string]: unknown }[] = [];
  readonly configAnswers = new Map<string, ConfigAnswer>();
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
  approved: "pending" | "approved" | "denied" = "pending";
  intervalS = 1;
  /** Whether it holds requests for commands; otherwise it does not know them. */
  letsWait = false;

  static async start(certificates = (usual ??= makeCertificates()), port = 0): Promise<TestService> {
    const service = new TestService(certificates);
    await service.listen(port);
    return service;
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

  protected async answer(
    request: IncomingMessage,
    url: URL,
    text: string,
    credential: string,
  ): Promise<JsonAnswer> {
    if (this.letsWait && url.pathname === "/v1/commands") await this.#hold(request, url);
    const method = request.method ?? "";
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
      const receipt = this.receiptOf.get(receiptOf);
      return receipt === undefined
        ? failure(404, "not_found", "no such receipt")
        : json(200, { receipt, rotations: [] });
    }
    const keptOf = /^\/v1\/sources\/(src_\w+)\/backups$/.exec(path)?.[1];
    if (keptOf !== undefined) {
      const kept = [...this.backups.values()].filter(
        ({ id, source_id }) => source_id === keptOf && this.receiptOf.has(id),
      );
      const after = url.searchParams.get("cursor") ?? "";
      const ids = kept.map(({ id }) => id).filter((id) => id > after);
      const page = ids.toSorted().slice(0, 2);
      return json(200, { backup_ids: page, next_cursor: page.length < 2 ? null : page[1] });
    }
    if (method === "POST" && path === "/v1/receipts" && text.includes("\n")) return this.recordLines(text);
    if (method === "POST" && path === "/v1/receipts") return this.recordReceipt(body() as EnvelopeRequest);
    if (method === "POST" && path === "/v1/agent/key") return this.rotateKey(body() as KeyRotationJson);
    if (method === "POST" && path === "/v1/events") return this.recordEvent(body() as EventRequest);
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
    if (method === "GET" && path === "/v1/log/proof") return this.proof(url.searchParams);
    return failure(404, "not_found", `no ${path}`);
  }

  get #hasWork(): boolean {
    return this.commands.length > 0 || this.configRequests.length > 0;
  }

  async #hold(request: IncomingMessage, url: URL): Promise<void> {
    const end = performance.now() + Number(url.searchParams.get("wait_s")) * 1000;
    while (!this.#hasWork && performance.now() < end && !request.socket.destroyed) await pause(10);
  }

  readonly #objectOf = new Map<string, string>();

  #attached(): unknown {
    return {
      agent_id: this.agentId,
      org_id: this.orgId,
      api_token: this.token,
      log: { origin: this.log.verifier.name, verifier_key: this.log.verifierKey },
      heartbeat_interval_s: this.intervalS,
    };
  }

  #heartbeat(beat: HeartbeatRequest): JsonAnswer {
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

  #register(wanted: RegisterBackupRequest): JsonAnswer {
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

  /** Where `objects` has the bytes of a backup, to damage or remove them. */
  objectKey(backupId: string): string {
    return this.#objectOf.get(backupId) ?? "";
  }

  protected answerObject(request: IncomingMessage, response: ServerResponse, url: URL, raw: Buffer): void {
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
