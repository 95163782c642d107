import {
  CompactRange,
  formatCheckpoint,
  formatLeaf,
  formatNote,
  formatPublicKeyWire,
  formatStatement,
  formatVerifierKey,
  leafHash,
  noteSignatureLine,
  PAYLOAD_TYPE,
  PREDICATE_BACKUP,
  PREDICATE_RESTORE_TEST,
  proveInclusion,
  receiptKind,
  sha256,
  signEnvelope,
  sshFingerprint,
  STATEMENT_TYPE,
  toBase64,
  toHex,
  envelopeToJson,
  utf8,
  type BackupStatement,
  type Envelope,
  type Hash,
  type Leaf,
  type ReceiptBundle,
  type RestoreTestStatement,
  type Statement,
} from "../src/index.ts";
import { type TestKey, verifierOf } from "./signing-keys.ts";

export const CIPHERTEXT = utf8("age-encryption.org/v1\n…not really\n");

export const ids = {
  org: "org_01jd3gqk7vfx0t6r4t9m2c8w5a",
  otherOrg: "org_01jd3gqk7vfx0t6r4t9m2c8w5b",
  agent: "agent_01jd3gqm3wey1s8p6x2n9d7v4c",
  source: "src_01jd3gqn5xdz2r9q8y3p0f8w6d",
  backup: "bkp_01jd3gqp7yc03q0r9z4q1g9x7e",
  receipt: "rcpt_01jd3gqq8zb14p1s0a5r2h0y8f",
};

const run = {
  org_id: ids.org,
  agent_id: ids.agent,
  source_id: ids.source,
  backup_id: ids.backup,
  started_at: "2026-11-20T02:00:00.000Z",
  finished_at: "2026-11-20T02:00:41.250Z",
  agent_version: "0.1.0",
};

const statement = {
  _type: STATEMENT_TYPE,
  subject: [{ name: ids.backup, digest: { sha256: toHex(sha256(CIPHERTEXT)) } }],
} as const satisfies Pick<Statement, "_type" | "subject">;

/** Every field there is, those that may be absent too. */
export const backupStatement = (): BackupStatement =>
  structuredClone({
    ...statement,
    subject: [...statement.subject],
    predicateType: PREDICATE_BACKUP,
    predicate: {
      ...run,
      previous_receipt_sha256: null,
      size_bytes: CIPHERTEXT.length,
      cipher: { name: "age-v1", recipients: ["age1first", "age1second"] },
      source_metadata: {
        engine: "postgresql",
        engine_version: "15.14",
        dump_format: "pg_dump-custom",
        schema_hash: "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
        database: { encoding: "UTF8" },
      },
    },
  });

/** Every field there is, those that may be absent too. */
export const restoreTestStatement = (): RestoreTestStatement =>
  structuredClone({
    ...statement,
    subject: [...statement.subject],
    predicateType: PREDICATE_RESTORE_TEST,
    predicate: {
      ...run,
      previous_receipt_sha256: toHex(sha256(utf8("the receipt before"))),
      runtime: {
        kind: "container",
        engine: "postgresql",
        engine_version: "15.14",
        image_digest: "sha256:1234",
      },
      result: "passed",
      reason: "every check held",
      phases: { download_ms: 1200, decrypt_ms: 300, restore_ms: 4100, checks_ms: 12 },
      checks: [
        {
          id: "has-orders",
          definition_sha256: toHex(sha256(utf8("select count(*) as n from orders"))),
          observed: { n: 20000 },
          expectation: "n >= 1000",
          result: "passed",
          duration_ms: 7,
        },
      ],
    },
  });

export async function signStatement(value: Statement, key: TestKey): Promise<Envelope> {
  return signPayload(formatStatement(value), key);
}

export function signPayload(payload: Uint8Array, key: TestKey): Promise<Envelope> {
  return signEnvelope({
    payloadType: PAYLOAD_TYPE,
    payload,
    keyid: sshFingerprint(key.publicKey),
    sign: key.sign,
  });
}

/**
 * A log of `size` leaves with the receipt's at `index`, and the receipt's bundle as the service
 * would give it.
 */
export async function bundleOf(
  input: { statement: Statement; envelope: Envelope; agent: TestKey; log: TestKey },
  { index = 5, size = 11 } = {},
): Promise<ReceiptBundle> {
  const { statement: said, envelope, agent, log } = input;
  const leaf: Leaf = {
    v: 1,
    kind: receiptKind(said),
    org_id: said.predicate.org_id,
    id: ids.receipt,
    actor_id: said.predicate.agent_id,
    recorded_at: "2026-11-20T02:00:42.000Z",
    body_sha256: toHex(sha256(envelope.payload)),
    signature: toBase64(envelope.signature),
  };
  const nodes = new Map<string, Hash>();
  const range = CompactRange.empty();
  for (let i = 0; i < size; i++) {
    const hash = leafHash(i === index ? formatLeaf(leaf) : utf8(`another leaf ${i}`));
    range.append(hash, (level, at, node) => nodes.set(`${level}/${at}`, node));
  }
  const hashes = proveInclusion(index, size, (level, at) => nodes.get(`${level}/${at}`) ?? new Uint8Array(0));
  return {
    envelope: envelopeToJson(envelope),
    public_key: formatPublicKeyWire(agent.publicKey),
    leaf,
    inclusion_proof: { log_index: index, tree_size: size, hashes: hashes.map(toHex) },
    checkpoint: await signedCheckpoint(log, size, range.root()),
    log: { origin: LOG_NAME, verifier_key: formatVerifierKey(verifierOf(log, LOG_NAME)) },
  };
}

export const LOG_NAME = `log.example.com/${ids.org}`;

export async function signedCheckpoint(
  log: TestKey,
  size: number,
  rootHash: Hash,
  origin = LOG_NAME,
): Promise<string> {
  const text = formatCheckpoint({ origin, size, rootHash });
  return formatNote(text, [noteSignatureLine(verifierOf(log, origin), await log.sign(utf8(text)))]);
}
