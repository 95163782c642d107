import { type KeyObject, createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { newId } from "@attestore/contract";
import { publicKeyFromBytes, sshFingerprint } from "@attestore/proof";
import type { Way } from "../../src/platform/database/roles.ts";
import type { Database } from "../../src/platform/database/schema.ts";
import { type TestDatabase, openTestDatabase } from "../database/test-database.ts";
import { silentLogger } from "../../src/platform/logging/logger.ts";
import type { ConnectionSettings } from "../../src/platform/database/connection-settings.ts";
import { CheckpointSigner, type SignedHeadStore } from "../../src/log/checkpoints/checkpoint-signer.ts";
import { createLog } from "../../src/log/append/locked-log.ts";
import { type SigningKey, heldSigningKey } from "../../src/platform/keys/signing-key.ts";
import type { LogKeys } from "../../src/log/checkpoints/log-keys.ts";
import { committedHeads } from "../../src/log/heads/committed-heads.ts";
import { openSequencerPool } from "../../src/log/sequencer/sequencer-pool.ts";
import { type Submissions, callRecords } from "../../src/features/submissions/submit-entry.ts";
import type { WireAnswer } from "../../src/platform/http/route/answer.ts";
import type { SubmissionRecord } from "../../src/platform/http/route/route.ts";
import { Sequencer, type SequencerOptions } from "../../src/log/sequencer/sequencer.ts";

/** As the service's own sequencer is set up. */
type Options = SequencerOptions<SubmissionRecord, WireAnswer>;

export const LOG_HOST = "log.example.test";

export interface TestAgent {
  id: string;
  orgId: string;
  publicKey: Uint8Array;
  keyFingerprint: string;
  token: string;
  privateKey: KeyObject;
}

/**
 * A real database with organisations and agents in it, and as many replicas of the service's log as
 * a test wants.
 */
export interface LogWorld extends TestDatabase {
  keys: LogKeys;
  addOrg(): Promise<string>;
  addAgent(orgId: string): Promise<TestAgent>;
  addBackup(agent: TestAgent, testAgent?: TestAgent): Promise<TestBackup>;
  /** A process of the service: a signer, connections and a sequencer of its own. */
  addReplica(
    options?: Partial<Options>,
    connection?: ConnectionSettings,
    signed?: SignedHeadStore,
    way?: Way,
  ): Replica;
}

export interface TestBackup {
  id: string;
  sourceId: string;
  sha256: string;
  sizeBytes: number;
}

export interface Replica {
  signer: CheckpointSigner;
  sequencer: Submissions;
  close(): Promise<void>;
}

export async function openLogWorld(): Promise<LogWorld> {
  const database = await openTestDatabase();
  const db = database.database;
  const keys: LogKeys = { note: ed25519(), time: ed25519() };
  const replicas: Replica[] = [];

  const addOrg = async (): Promise<string> => {
    const id = newId("org");
    await db.transaction().execute(async (tx) => {
      await tx.insertInto("orgs").values({ id, name: id, slug: id }).execute();
      await createLog(tx, LOG_HOST, id);
    });
    return id;
  };

  const addAgent = (orgId: string): Promise<TestAgent> => insertAgent(db, orgId);
  const addBackup = (agent: TestAgent, testAgent?: TestAgent): Promise<TestBackup> =>
    insertBackup(db, agent, testAgent);

  const addReplica = (
    options: Partial<Options> = {},
    connection = database.connection,
    signed: SignedHeadStore = { newest: () => [], record: () => Promise.resolve() },
    way?: Way,
  ): Replica => {
    const signer = new CheckpointSigner(LOG_HOST, keys, { signed, ...committedHeads(database.pool) });
    const pool = openSequencerPool(connection, silentLogger, way === undefined ? {} : { way });
    const sequencer = new Sequencer({ pool, calls: callRecords, signer, logger: silentLogger, ...options });
    const close = async (): Promise<void> => {
      await sequencer.close();
      if (!pool.ended) await pool.end();
    };
    const replica = { signer, sequencer, close };
    replicas.push(replica);
    return replica;
  };

  const close = async (): Promise<void> => {
    for (const replica of replicas) await replica.close();
    await database.close();
  };
  return { ...database, keys, addOrg, addAgent, addBackup, addReplica, close };
}

/** An agent that no event of the log tells of. */
export async function insertAgent(db: Database, orgId: string): Promise<TestAgent> {
  const id = newId("agent");
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const raw = new Uint8Array(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url"));
  const keyFingerprint = sshFingerprint(publicKeyFromBytes(raw));
  const token = `ats_${randomBytes(32).toString("base64url")}`;
  await db
    .insertInto("agents")
    .values({
      id,
      org_id: orgId,
      name: "agent",
      hostname: "host",
      platform: "linux",
      agent_version: "0.1.0",
      public_key: Buffer.from(raw),
      key_fingerprint: keyFingerprint,
      token_sha256: createHash("sha256").update(token).digest(),
    })
    .execute();
  return {
    id,
    orgId,
    publicKey: raw,
    keyFingerprint,
    token,
    privateKey,
  };
}

/** A backup of a source of its own. */
export async function insertBackup(
  db: Database,
  agent: TestAgent,
  testAgent?: TestAgent,
): Promise<TestBackup> {
  const [sourceId, uploadId, id] = [newId("source"), newId("upload"), newId("backup")];
  const sha256 = randomBytes(32);
  const sizeBytes = 12_345;
  const owner = { org_id: agent.orgId, agent_id: agent.id };
  await db
    .insertInto("sources")
    .values({
      ...owner,
      id: sourceId,
      slug: sourceId,
      name: "orders",
      engine: "postgresql",
      test_agent_id: testAgent?.id ?? null,
    })
    .execute();
  const ciphertext = {
    sha256,
    size_bytes: sizeBytes,
    object_key: `${agent.orgId}/${sourceId}/${uploadId}.age`,
  };
  await db
    .insertInto("uploads")
    .values({ ...owner, ...ciphertext, id: uploadId, source_id: sourceId, expires_at: new Date() })
    .execute();
  await db
    .insertInto("backups")
    .values({
      ...owner,
      ...ciphertext,
      id,
      source_id: sourceId,
      upload_id: uploadId,
      cipher: JSON.stringify({ name: "age-v1", recipients: ["age1example"] }),
      source_metadata: JSON.stringify({ engine: "postgresql" }),
      made_at: new Date(),
    })
    .execute();
  return { id, sourceId, sha256: sha256.toString("hex"), sizeBytes };
}

function ed25519(): SigningKey {
  return heldSigningKey(generateKeyPairSync("ed25519").privateKey);
}
