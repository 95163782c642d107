import {
  AgentKeyRecord,
  AttachPending,
  Attached,
  BackupRecord,
  BootstrapStarted,
  CommandNotice,
  ConfigAnswerAccepted,
  DownloadUrl,
  EventAccepted,
  KeptBackups,
  LogGenerations,
  LogHead,
  LogProof,
  MakersReceipt,
  LINES_TYPE,
  POLL_HOLD_S,
  ProgressAccepted,
  ReceiptAccepted,
  UploadUrl,
  type AttachRequest,
  type ConfigAnswer,
  type EnvelopeRequest,
  type EventRequest,
  type HeartbeatRequest,
  type ProgressReport,
  type RegisterBackupRequest,
  type RotateAgentKeyRequest,
  type UploadUrlRequest,
} from "@attestore/contract";
import { PATIENT, type Backoff } from "../transport/backoff.ts";
import { Caller, type CallOptions } from "./caller.ts";
import { readAnswer, readLines } from "./read-answer.ts";
import { type HeardHeartbeat, HeartbeatAnswer, readHeartbeat } from "./read-heartbeat.ts";
import { objectConnections, serviceConnections } from "../transport/tls-trust.ts";
import { downloadObject, type DownloadRequest } from "../transport/download-object.ts";
import { uploadObject, type UploadRequest } from "../transport/upload-object.ts";

/** A URL for each of a thousand parts, with a session token in each. */
const MAX_URLS_BYTES = 4 * 1024 * 1024;

/** Of a hundred receipts, each with its proof. */
const MAX_ANSWERS_BYTES = 4 * 1024 * 1024;

/** The largest bundle, and a key's rotations. */
const MAX_RECEIPT_ANSWER_BYTES = 8 * 1024 * 1024;

export interface ServiceOptions {
  readonly url: URL;
  /** PEM that the service's certificate must lead to; null for the public CAs. */
  readonly pinnedCa: string | null;
  /** The agent's token; null before the attach. */
  readonly token: string | null;
  readonly backoff?: Backoff;
  readonly timeout_ms?: number;
}

/**
 * The service, as this agent talks to it. Every call throws ServiceError, or the signal's reason
 * when that fires.
 */
export interface Service {
  readonly url: URL;
  attach(authKey: string, body: AttachRequest, options: CallOptions): Promise<Attached>;
  startBootstrap(body: AttachRequest, options: CallOptions): Promise<BootstrapStarted>;
  /** Null while nobody has decided. The service holds each call for up to 25 s. */
  pollBootstrap(pollToken: string, options: CallOptions): Promise<Attached | null>;
  heartbeat(body: HeartbeatRequest, options: CallOptions): Promise<HeardHeartbeat>;
  /** Held by the service until the next heartbeat gets commands, for that long at most. */
  waitForCommands(wait_s: number, options: CallOptions): Promise<CommandNotice>;
  answerConfigRequest(id: string, body: ConfigAnswer, options: CallOptions): Promise<ConfigAnswerAccepted>;
  reportProgress(commandId: string, body: ProgressReport, options: CallOptions): Promise<ProgressAccepted>;
  uploadUrl(body: UploadUrlRequest, options: CallOptions): Promise<UploadUrl>;
  registerBackup(body: RegisterBackupRequest, options: CallOptions): Promise<BackupRecord>;
  downloadUrl(backupId: string, options: CallOptions): Promise<DownloadUrl>;
  /** Ids of a source's backups that are kept, oldest first: a page. */
  keptBackups(sourceId: string, cursor: string | null, options: CallOptions): Promise<KeptBackups>;
  /** The backup's receipt from the agent that made it; not verified here. */
  makersReceipt(backupId: string, options: CallOptions): Promise<MakersReceipt>;
  submitReceipt(envelope: EnvelopeRequest, options: CallOptions): Promise<ReceiptAccepted>;
  /**
   * Several receipts in one call.
   * @returns for each, in that order, what reads its answer, and throws as `submitReceipt` does
   */
  submitReceipts(
    envelopes: readonly EnvelopeRequest[],
    options: CallOptions,
  ): Promise<(() => ReceiptAccepted)[]>;
  /** Sends a new signing key; the same rotation again gets the same answer. */
  rotateKey(rotation: RotateAgentKeyRequest, options: CallOptions): Promise<AgentKeyRecord>;
  submitEvent(event: EventRequest, options: CallOptions): Promise<EventAccepted>;
  /**
   * `serverTime_ms`: the service's clock when it answered, to the second; null if it does not say.
   */
  logHead(options: CallOptions): Promise<{ head: LogHead; serverTime_ms: number | null }>;
  logProof(
    query: { leaf: number; treeSize: number; from: number | null },
    options: CallOptions,
  ): Promise<LogProof>;
  /** The events that began the log's generations, and those about lost heads of that size. */
  logGenerations(query: { treeSize: number }, options: CallOptions): Promise<LogGenerations>;
  /** @returns the ETag that the object store returned. */
  upload(request: UploadRequest): Promise<string | null>;
  download(request: DownloadRequest): Promise<void>;
  /** Ends the idle connections, which would keep the process alive. */
  close(): void;
}

export function openService(options: ServiceOptions): Service {
  const { url, token, backoff = PATIENT, timeout_ms = 30_000 } = options;
  const connections = serviceConnections(options.pinnedCa);
  const objects = objectConnections(options.pinnedCa);

  const caller = new Caller({ url, token, connections, backoff, timeout_ms });
  const api = caller.api.bind(caller);

  return {
    url,
    attach: async (authKey, body, options) => {
      const reading = { expected: { 201: Attached }, credential: authKey };
      return (await api(reading, options).call("post", "/api/bootstrap/attach", { body })).body;
    },
    startBootstrap: async (body, options) => {
      const reading = { expected: { 201: BootstrapStarted } };
      return (await api(reading, options).call("post", "/api/bootstrap/start", { body })).body;
    },
    pollBootstrap: async (poll_token, options) => {
      const answer = await api(
        {
          expected: { 200: Attached, 202: AttachPending },
          credential: null,
          timeout_ms: (POLL_HOLD_S + 15) * 1000,
        },
        options,
      ).call("get", "/api/bootstrap/{poll_token}", { path: { poll_token } });
      return answer.status === 202 ? null : answer.body;
    },
    // Without a key: otherwise the service would store an answer a minute for each agent. If the
    // answer is lost, the commands come again.
    heartbeat: async (body, options) => {
      const reading = { expected: { 200: HeartbeatAnswer } };
      const client = api(reading, { ...options, idempotencyKey: null });
      return readHeartbeat(url.host, (await client.call("post", "/v1/heartbeat", { body })).body);
    },
    waitForCommands: async (wait_s, options) => {
      const reading = { expected: { 200: CommandNotice }, timeout_ms: (wait_s + 10) * 1000 };
      const query = { wait_s: String(wait_s) };
      return (await api(reading, options).call("get", "/v1/commands", { query })).body;
    },
    answerConfigRequest: async (id, body, options) => {
      const client = api({ expected: { 200: ConfigAnswerAccepted } }, options);
      const call = "/v1/config-requests/{id}/answer";
      // One call for each form: the typed client takes no union.
      const answered =
        "result" in body
          ? await client.call("post", call, { path: { id }, body })
          : await client.call("post", call, { path: { id }, body });
      return answered.body;
    },
    reportProgress: async (id, body, options) => {
      const client = api({ expected: { 200: ProgressAccepted } }, { ...options, idempotencyKey: null });
      return (await client.call("post", "/v1/commands/{id}/progress", { path: { id }, body })).body;
    },
    uploadUrl: async (body, options) => {
      const reading = { expected: { 200: UploadUrl, 201: UploadUrl }, maxResponseBytes: MAX_URLS_BYTES };
      return (await api(reading, options).call("post", "/v1/backups/upload-url", { body })).body;
    },
    registerBackup: async (body, options) => {
      const reading = { expected: { 201: BackupRecord } };
      return (await api(reading, options).call("post", "/v1/backups", { body })).body;
    },
    downloadUrl: async (id, options) => {
      const reading = { expected: { 200: DownloadUrl, 201: DownloadUrl } };
      const path = { id };
      return (await api(reading, options).call("post", "/v1/backups/{id}/download-url", { path })).body;
    },
    keptBackups: async (id, cursor, options) => {
      const reading = { expected: { 200: KeptBackups } };
      const path = { id };
      const query = cursor === null ? {} : { cursor };
      return (await api(reading, options).call("get", "/v1/sources/{id}/backups", { path, query })).body;
    },
    makersReceipt: async (id, options) => {
      const reading = { expected: { 200: MakersReceipt }, maxResponseBytes: MAX_RECEIPT_ANSWER_BYTES };
      const path = { id };
      return (await api(reading, options).call("get", "/v1/backups/{id}/receipt", { path })).body;
    },
    submitReceipt: async (body, options) => {
      const reading = { expected: { 201: ReceiptAccepted } };
      return (await api(reading, options).call("post", "/v1/receipts", { body })).body;
    },
    submitReceipts: async (envelopes, options) => {
      const body = envelopes.map((envelope) => `${JSON.stringify(envelope)}\n`).join("");
      const headers = { "content-type": LINES_TYPE };
      const reading = { maxResponseBytes: MAX_ANSWERS_BYTES };
      const call = { method: "POST", path: "/v1/receipts", headers, body };
      const answers = await caller.send(reading, options, call, (answer) =>
        readLines(url.host, answer, envelopes.length),
      );
      return answers.map((each) => () => readAnswer(url.host, each, { 201: ReceiptAccepted }).value);
    },
    rotateKey: async (body, options) => {
      const reading = { expected: { 200: AgentKeyRecord } };
      return (await api(reading, options).call("post", "/v1/agent/key", { body })).body;
    },
    submitEvent: async (body, options) => {
      const reading = { expected: { 201: EventAccepted } };
      return (await api(reading, options).call("post", "/v1/events", { body })).body;
    },
    logHead: async (options) => {
      let serverTime_ms = Number.NaN;
      const onDate = (date: string | undefined): void => {
        serverTime_ms = date === undefined ? Number.NaN : Date.parse(date);
      };
      const { body } = await api({ expected: { 200: LogHead }, onDate }, options).call("get", "/v1/log/head");
      return { head: body, serverTime_ms: Number.isNaN(serverTime_ms) ? null : serverTime_ms };
    },
    logProof: async ({ leaf, treeSize, from }, options) => {
      const query = {
        leaf: String(leaf),
        tree_size: String(treeSize),
        ...(from === null ? {} : { from: String(from) }),
      };
      return (await api({ expected: { 200: LogProof } }, options).call("get", "/v1/log/proof", { query }))
        .body;
    },
    logGenerations: async ({ treeSize }, options) => {
      const query = { tree_size: String(treeSize) };
      return (
        await api({ expected: { 200: LogGenerations } }, options).call("get", "/v1/log/generations", {
          query,
        })
      ).body;
    },
    upload: (request) => uploadObject(objects, backoff, request),
    download: (request) => downloadObject(objects, backoff, request),
    close: () => {
      connections.destroy();
      objects.destroy();
    },
  };
}
