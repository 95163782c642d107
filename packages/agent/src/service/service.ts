import { randomUUID } from "node:crypto";
import type { Static, TSchema } from "typebox";
import {
  AgentKeyRecord,
  AttachPending,
  Attached,
  BackupRecord,
  BootstrapStarted,
  DownloadUrl,
  EventAccepted,
  HeartbeatResponse,
  LogHead,
  LogProof,
  MAX_BODY_BYTES,
  POLL_HOLD_S,
  ReceiptAccepted,
  UploadUrl,
  type AttachRequest,
  type EnvelopeRequest,
  type EventRequest,
  type HeartbeatRequest,
  type RegisterBackupRequest,
  type RotateAgentKeyRequest,
  type UploadUrlRequest,
} from "@attestore/contract";
import { PATIENT, retrying, type Backoff } from "./backoff.ts";
import { exchange } from "./exchange.ts";
import { readAnswer } from "./read-answer.ts";
import { agentVersion } from "./host-facts.ts";
import { objectConnections, serviceConnections } from "./tls-trust.ts";
import { downloadObject, type DownloadRequest } from "./download-object.ts";
import { uploadObject, type UploadRequest } from "./upload-object.ts";

/** A URL for each of a thousand parts, with a session token in each. */
const MAX_URLS_BYTES = 4 * 1024 * 1024;

export interface ServiceOptions {
  readonly url: URL;
  /** PEM that the service's certificate has to lead to; null for the public CAs. */
  readonly pinnedCa: string | null;
  /** The agent's token; null before the attach. */
  readonly token: string | null;
  readonly backoff?: Backoff;
  readonly timeout_ms?: number;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** Kept by whoever may have to repeat the call later; a fresh one otherwise. Null: none, repeating it does no more than once would. */
  readonly idempotencyKey?: string | null;
  /** Tries once and leaves repeating to the caller. */
  readonly once?: boolean;
}

/** The service, as this agent talks to it. Every call throws ServiceError, or the signal's reason when that fires. */
export interface Service {
  readonly url: URL;
  attach(authKey: string, body: AttachRequest, options: CallOptions): Promise<Attached>;
  startBootstrap(body: AttachRequest, options: CallOptions): Promise<BootstrapStarted>;
  /** Null while nobody has decided. The service holds each call for up to 25 s. */
  pollBootstrap(pollToken: string, options: CallOptions): Promise<Attached | null>;
  heartbeat(body: HeartbeatRequest, options: CallOptions): Promise<HeartbeatResponse>;
  uploadUrl(body: UploadUrlRequest, options: CallOptions): Promise<UploadUrl>;
  registerBackup(body: RegisterBackupRequest, options: CallOptions): Promise<BackupRecord>;
  downloadUrl(backupId: string, options: CallOptions): Promise<DownloadUrl>;
  submitReceipt(envelope: EnvelopeRequest, options: CallOptions): Promise<ReceiptAccepted>;
  /** Another signing key; the same rotation again gets the same answer. */
  rotateKey(rotation: RotateAgentKeyRequest, options: CallOptions): Promise<AgentKeyRecord>;
  submitEvent(event: EventRequest, options: CallOptions): Promise<EventAccepted>;
  /** `serverTime_ms`: the service's clock as it answered, to the second; null if it does not say. */
  logHead(options: CallOptions): Promise<{ head: LogHead; serverTime_ms: number | null }>;
  logProof(
    query: { leaf: number; treeSize: number; from: number | null },
    options: CallOptions,
  ): Promise<LogProof>;
  /** @returns the ETag that the object store gave. */
  upload(request: UploadRequest): Promise<string | null>;
  download(request: DownloadRequest): Promise<void>;
  /** Ends the idle connections, which would keep the process alive. */
  close(): void;
}

export function openService(options: ServiceOptions): Service {
  const { url, token, backoff = PATIENT, timeout_ms = 30_000 } = options;
  const connections = serviceConnections(options.pinnedCa);
  const objects = objectConnections(options.pinnedCa);

  interface Call<Schema extends TSchema> {
    method: "GET" | "POST";
    path: string;
    credential: string | null;
    body?: unknown;
    expected: Readonly<Record<number, Schema>>;
    timeout_ms?: number;
    maxResponseBytes?: number;
  }

  interface Answered<Schema extends TSchema> {
    status: number;
    value: Static<Schema>;
    /** The Date header. */
    date: string | undefined;
  }

  async function call<Schema extends TSchema>(
    what: Call<Schema>,
    { signal, idempotencyKey, once = false }: CallOptions,
  ): Promise<Answered<Schema>> {
    const target = new URL(what.path, url);
    const headers: Record<string, string> = {
      accept: "application/json",
      "user-agent": `attestore/${agentVersion}`,
    };
    if (what.credential !== null) headers["authorization"] = `Bearer ${what.credential}`;
    if (what.method === "POST") {
      headers["content-type"] = "application/json";
      // One key for all tries of one call: a try whose answer was lost has its effect once.
      if (idempotencyKey !== null) headers["idempotency-key"] = idempotencyKey ?? randomUUID();
    }
    const attempt = async (): Promise<Answered<Schema>> => {
      const answer = await exchange({
        method: what.method,
        url: target,
        headers,
        ...(what.body === undefined ? {} : { body: JSON.stringify(what.body) }),
        connections,
        timeout_ms: what.timeout_ms ?? timeout_ms,
        maxResponseBytes: what.maxResponseBytes ?? MAX_BODY_BYTES,
        signal,
      });
      return { ...readAnswer(url.host, answer, what.expected), date: answer.headers.date };
    };
    return once ? attempt() : retrying(backoff, signal, attempt);
  }

  async function post<Schema extends TSchema>(
    path: string,
    body: unknown,
    expected: Readonly<Record<number, Schema>>,
    options: CallOptions,
  ): Promise<Static<Schema>> {
    return (await call({ method: "POST", path, credential: token, body, expected }, options)).value;
  }

  return {
    url,
    attach: async (authKey, body, options) => {
      const path = "/api/bootstrap/attach";
      const expected = { 201: Attached };
      return (await call({ method: "POST", path, credential: authKey, body, expected }, options)).value;
    },
    startBootstrap: (body, options) => post("/api/bootstrap/start", body, { 201: BootstrapStarted }, options),
    pollBootstrap: async (pollToken, options) => {
      const { status, value } = await call(
        {
          method: "GET",
          path: `/api/bootstrap/${pollToken}`,
          credential: null,
          expected: { 200: Attached, 202: AttachPending },
          timeout_ms: (POLL_HOLD_S + 15) * 1000,
        },
        options,
      );
      return status === 202 ? null : (value as Attached);
    },
    // Without a key: the service need not keep an answer a minute for each agent. Commands whose answer was lost come again.
    heartbeat: (body, options) =>
      post("/v1/heartbeat", body, { 200: HeartbeatResponse }, { ...options, idempotencyKey: null }),
    uploadUrl: async (body, options) => {
      const path = "/v1/backups/upload-url";
      const expected = { 200: UploadUrl, 201: UploadUrl };
      const maxResponseBytes = MAX_URLS_BYTES;
      return (
        await call({ method: "POST", path, credential: token, body, expected, maxResponseBytes }, options)
      ).value;
    },
    registerBackup: (body, options) => post("/v1/backups", body, { 201: BackupRecord }, options),
    downloadUrl: (backupId, options) =>
      post(`/v1/backups/${backupId}/download-url`, {}, { 200: DownloadUrl, 201: DownloadUrl }, options),
    submitReceipt: (envelope, options) => post("/v1/receipts", envelope, { 201: ReceiptAccepted }, options),
    rotateKey: (rotation, options) => post("/v1/agent/key", rotation, { 200: AgentKeyRecord }, options),
    submitEvent: (event, options) => post("/v1/events", event, { 201: EventAccepted }, options),
    logHead: async (options) => {
      const { value, date } = await call(
        { method: "GET", path: "/v1/log/head", credential: token, expected: { 200: LogHead } },
        options,
      );
      const serverTime_ms = date === undefined ? Number.NaN : Date.parse(date);
      return { head: value, serverTime_ms: Number.isNaN(serverTime_ms) ? null : serverTime_ms };
    },
    logProof: async ({ leaf, treeSize, from }, options) => {
      const query = `leaf=${leaf}&tree_size=${treeSize}${from === null ? "" : `&from=${from}`}`;
      const path = `/v1/log/proof?${query}`;
      return (await call({ method: "GET", path, credential: token, expected: { 200: LogProof } }, options))
        .value;
    },
    upload: (request) => uploadObject(objects, backoff, request),
    download: (request) => downloadObject(objects, backoff, request),
    close: () => {
      connections.destroy();
      objects.destroy();
    },
  };
}
