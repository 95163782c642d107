/**
 * A whole orchestrator for tests: real PostgreSQL, the disk store, TLS 1.3, all of its routes, on a
 * random port with a data directory of its own. Takes about two seconds to start.
 *
 *   let service: TestService;
 *   beforeAll(async () => { service = await startTestService(); });
 *   afterAll(() => service.close());
 *
 *   const org = await service.addOrg();                       // an organisation with an auth key
 *   const agent = await service.attach(org);                  // a real attach over HTTPS: id, token, key pair
 *   const answer = await agent.post("/v1/heartbeat", heartbeat());
 *   answer.status, answer.json, answer.headers, answer.body   // body: the bytes
 *
 * `service.call` sends anything, as anybody, from any address of 127.0.0.0/8 (limits count by
 * address). `service.database` and `service.pool` look at what it left behind. `service.listen()`
 * starts a second replica on the same database.
 */
import { type KeyObject, createHash, generateKeyPairSync } from "node:crypto";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Pool } from "pg";
import { newId } from "@attestore/contract";
import { createAuthKey } from "../src/features/auth-keys/create-auth-key.ts";
import { queueCommand } from "../src/features/command-queue/queue-command.ts";
import { createOrg } from "../src/features/orgs/create-org.ts";
import { startSession } from "../src/features/sessions/start-session.ts";
import { requireSource } from "../src/features/sources/named-source.ts";
import type { ArchivedEnvelopes } from "../src/log/archive/archived-envelopes.ts";
import { CheckpointSigner } from "../src/log/checkpoints/checkpoint-signer.ts";
import type { Database } from "../src/platform/database/schema.ts";
import { openTestDatabase } from "./database/test-database.ts";
import { type Sealer, createSealer } from "../src/platform/http/sealer.ts";
import type { Mail } from "../src/platform/mail/mail.ts";
import { listQueuedMail } from "../src/platform/mail/outbox.ts";
import type { DiskStore } from "../src/platform/objects/disk-store.ts";
import type { ConnectionSettings } from "../src/platform/database/connection-settings.ts";
import { heldSigningKey } from "../src/platform/keys/signing-key.ts";
import { loadServerTls } from "../src/platform/tls/server-tls.ts";
import type { Answer, Call } from "./client.ts";
import { attachBody, newKeyPair } from "./new-agent.ts";
import { RecordingLogger } from "./recording-logger.ts";
import { type Replica, type ReplicaOptions, startReplica } from "./replica.ts";

export { attachBody, newKeyPair };
export type { Replica };

export const LOG_HOST = "log.test";

export interface TestOrg {
  id: string;
  slug: string;
  authKey: string;
}

export interface TestAgent {
  id: string;
  orgId: string;
  token: string;
  privateKey: KeyObject;
  publicKeyWire: string;
  log: { origin: string; verifier_key: string };
  post(path: string, json?: unknown, more?: Partial<Call>): Promise<Answer>;
  get(path: string, more?: Partial<Call>): Promise<Answer>;
}

/** A person who is signed in. */
export interface TestUser {
  id: string;
  email: string;
  token: string;
  get(path: string, more?: Partial<Call>): Promise<Answer>;
  post(path: string, json?: unknown, more?: Partial<Call>): Promise<Answer>;
  patch(path: string, json?: unknown, more?: Partial<Call>): Promise<Answer>;
  delete(path: string, more?: Partial<Call>): Promise<Answer>;
}

export interface Upload {
  upload_id: string;
  object_key: string;
  upload_url: string;
  headers: Record<string, string>;
}

export interface TestService extends Replica {
  ca: string;
  database: Database;
  pool: Pool;
  objects: DiskStore;
  envelopes: ArchivedEnvelopes;
  logger: RecordingLogger;
  sealer: Sealer;
  signer: CheckpointSigner;
  addOrg(name?: string): Promise<TestOrg>;
  addAuthKey(orgId: string, options?: { expiresIn_s?: number; maxUses?: number }): Promise<string>;
  attach(org: TestOrg, more?: Partial<Call>): Promise<TestAgent>;
  /** A user of the organisation, or with `null` an operator, already signed in. */
  signIn(org: { id: string } | null, role?: "owner" | "admin" | "auditor"): Promise<TestUser>;
  /** Mails that wait to be sent to an address, oldest first. */
  mails(to: string): Promise<Mail[]>;
  /** The one-time code of the newest of them. */
  codeFor(email: string): Promise<string>;
  /** Queues a command as the console does; gives its id. */
  queueCommand(sourceId: string, kind: "backup" | "restore_test"): Promise<string>;
  /** Asks for an upload URL and puts these bytes there; gives the upload. */
  upload(agent: TestAgent, sourceId: string, bytes: Uint8Array): Promise<Upload>;
  /** Where the disk store keeps an object. */
  objectFile(key: string): string;
  /** The body of `POST /v1/backups` for it. */
  registration(upload: Upload, sourceId: string): Record<string, unknown>;
  /** As the owner of the tables, as are `database` and `pool`. */
  connection: ConnectionSettings;
  /** As the replicas connect. */
  serviceConnection: ConnectionSettings;
  /** As what runs by the clock works. */
  byClock: Database;
  /**
   * Another process would be the same code: another app, on the same store, and on the same
   * database or another way to it (see database-switch.ts).
   */
  listen(connection?: ConnectionSettings): Promise<Replica>;
}

let orgs = 0;

export async function startTestService(options: ReplicaOptions = {}): Promise<TestService> {
  const data = await mkdtemp(join(tmpdir(), "attestore-service-"));
  await chmod(data, 0o711);
  const database = await openTestDatabase();
  const logger = new RecordingLogger();
  const tls = await loadServerTls({ directory: join(data, "tls"), hostnames: [] }, logger);
  const ca = await readFile(join(data, "tls", "ca.pem"), "utf8");
  const sealingKey = generateKeyPairSync("x25519").privateKey.export({ format: "jwk" }).d ?? "";
  const sealer = createSealer(Buffer.from(sealingKey, "base64url"));
  const signer = new CheckpointSigner(LOG_HOST, {
    note: heldSigningKey(generateKeyPairSync("ed25519").privateKey),
    time: heldSigningKey(generateKeyPairSync("ed25519").privateKey),
  });

  const shared = { data, ca, tls: tls.options, sealer, signer };
  const listen = (connection = database.service) => startReplica(shared, connection, logger, options);

  const first = await listen();
  const inTransaction = database.database.transaction();
  const service: TestService = {
    ...first,
    ca,
    database: database.database,
    pool: database.pool,
    logger,
    sealer,
    signer,
    connection: database.connection,
    serviceConnection: database.service,
    byClock: database.byClock,
    listen,
    addOrg: async (name = `Organisation ${++orgs}`) => {
      const org = await inTransaction.execute((tx) => createOrg(tx, { name, logHost: LOG_HOST }));
      return { id: org.id, slug: org.slug, authKey: await service.addAuthKey(org.id) };
    },
    addAuthKey: async (orgId, { expiresIn_s = 3600, maxUses } = {}) => {
      const key = { orgId, name: null, expiresIn_s, maxUses: maxUses ?? null, createdBy: "console" };
      return (await inTransaction.execute((tx) => createAuthKey(tx, key))).plaintext;
    },
    attach: (org, more) => attach(service, org, more),
    signIn: (org, role = "owner") =>
      inTransaction.execute(async (tx) => {
        const id = newId("user");
        const email = `${id}@example.org`;
        await tx
          .insertInto("users")
          .values({ id, email, org_id: org?.id ?? null, role: org === null ? "operator" : role })
          .execute();
        const { token } = await startSession(tx, id, org === null ? "passkey" : "email_code");
        const call =
          (method: string) =>
          (path: string, json?: unknown, more: Partial<Call> = {}): Promise<Answer> =>
            service.call({ method, path, token, ...(json === undefined ? {} : { json }), ...more });
        return {
          id,
          email,
          token,
          get: (path, more) => call("GET")(path, undefined, more),
          post: call("POST"),
          patch: call("PATCH"),
          delete: (path, more) => call("DELETE")(path, undefined, more),
        };
      }),
    mails: async (to) => (await listQueuedMail(database.database, sealer)).filter((mail) => mail.to === to),
    codeFor: async (email) => {
      const mail = (await service.mails(email)).at(-1);
      const code = /^ {4}([A-Z0-9]{4}-[A-Z0-9]{4})$/m.exec(mail?.text ?? "")?.[1];
      if (code === undefined) throw new Error(`no code was mailed to ${email}`);
      return code;
    },
    queueCommand: (sourceId, kind) =>
      inTransaction.execute(async (tx) => {
        const source = await requireSource(tx, null, sourceId);
        return (await queueCommand(tx, { source, kind, backupId: null, issuedBy: "console" })).commandId;
      }),
    upload: async (agent, sourceId, bytes) => {
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const asked = await agent.post("/v1/backups/upload-url", {
        source_id: sourceId,
        sha256,
        size_bytes: bytes.length,
      });
      if (asked.status !== 201) throw new Error(`upload-url: ${asked.status} ${asked.body.toString()}`);
      const upload = asked.json as unknown as Upload;
      const put = await service.call({
        method: "PUT",
        path: upload.upload_url.slice(service.url.length),
        body: bytes,
        headers: upload.headers,
      });
      if (put.status !== 200) throw new Error(`upload: ${put.status} ${put.body.toString()}`);
      return upload;
    },
    objectFile: (key) => join(data, "objects", key),
    registration: (upload, sourceId) => ({
      upload_id: upload.upload_id,
      source_id: sourceId,
      created_at: new Date().toISOString(),
      cipher: {
        name: "age-v1",
        recipients: ["age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"],
      },
      source_metadata: {
        engine: "postgresql",
        engine_version: "15.14",
        dump_format: "pg_dump-custom",
        schema_hash: "ab".repeat(32),
      },
    }),
    close: async () => {
      await first.close();
      await database.close();
      await rm(data, { recursive: true, force: true });
    },
  };
  return service;
}

export function heartbeat(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    agent_version: "0.1.0",
    hostname: "host-1.example.org",
    platform: "linux-x64",
    uptime_s: 5,
    sources: [],
    acks: [],
    ...more,
  };
}

async function attach(service: Replica, org: TestOrg, more: Partial<Call> = {}): Promise<TestAgent> {
  const { privateKey, publicKeyWire } = newKeyPair();
  const answer = await service.call({
    method: "POST",
    path: "/api/bootstrap/attach",
    token: org.authKey,
    json: attachBody(publicKeyWire),
    ...more,
  });
  if (answer.status !== 201) throw new Error(`attach: ${answer.status} ${answer.body.toString()}`);
  const token = answer.json["api_token"] as string;
  return {
    id: answer.json["agent_id"] as string,
    orgId: org.id,
    token,
    privateKey,
    publicKeyWire,
    log: answer.json["log"] as TestAgent["log"],
    post: (path, json, call = {}) => service.call({ method: "POST", path, token, json, ...call }),
    get: (path, call = {}) => service.call({ method: "GET", path, token, ...call }),
  };
}
