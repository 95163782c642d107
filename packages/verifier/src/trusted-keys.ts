import {
  fromUtf8,
  keyKind,
  type KeyKind,
  type KeyRotation,
  MAX_KEY_ROTATION_SIZE,
  parseKeyRotation,
  parsePublicKeyFile,
  parseVerifierKey,
  ProofError,
  sshFingerprint,
  isEncryptionKeyRotation,
  verifyKeyRotation,
  type NoteVerifier,
  type PublicKey,
} from "@attestore/proof";
import { CannotTell } from "./cannot-tell.ts";
import { readSmallFile } from "./files.ts";
import { type KeyList, parseKeyList } from "./key-list.ts";
import type { Options } from "./options.ts";
import type { PinnedKey } from "./pinned-key.ts";
import { requireSshSignature } from "./ssh-signature.ts";

const MAX_KEY_FILE = 16 * 1024;

const MAX_KEY_LIST = 16 * 1024 * 1024;

/** Reads all given agents' keys, and the organisation of their list. Throws CannotTell. */
export async function readPinnedKeys({
  keys,
  keyList,
  ownerKey,
}: Pick<Options, "keys" | "keyList" | "ownerKey">): Promise<KeyList> {
  const single = await Promise.all(
    keys.map(async (path): Promise<PinnedKey> => {
      const publicKey = await readPublicKey(path);
      const source = { kind: "file", where: path } as const;
      return { publicKey, fingerprint: sshFingerprint(publicKey), agentId: null, since: null, source };
    }),
  );
  if (keyList === undefined) return { orgId: null, keys: single };
  const bytes = await readSmallFile(keyList, MAX_KEY_LIST);
  if (ownerKey !== undefined) {
    const signature = `${keyList}.sig`;
    const armored = Buffer.from(await readSmallFile(signature, MAX_KEY_FILE)).toString("latin1");
    await requireSshSignature(signature, armored, bytes, await readPublicKey(ownerKey));
  }
  const list = parseKeyList(keyList, bytes, {
    kind: ownerKey === undefined ? "list" : "signed_list",
    where: keyList,
  });
  if (ownerKey !== undefined && list.orgId === null)
    throw new CannotTell(
      "key_unreadable",
      `${keyList}: a signed list must name its organisation in a line \`org org_…\``,
    );
  return { orgId: list.orgId, keys: [...single, ...list.keys] };
}

/** Reads an agent's key from a file. Throws CannotTell. */
async function readPublicKey(path: string): Promise<PublicKey> {
  const bytes = await readSmallFile(path, MAX_KEY_FILE);
  const kind = otherKindOf(bytes);
  return asKey(path, () => {
    if (kind !== null && kind !== PUBLIC) throw new ProofError("malformed_key", kind);
    return parsePublicKeyFile(fromUtf8(bytes));
  });
}

const PUBLIC = "this is an agent's key, not a log's or a witness's: give it with --key";
const LOG = "this is a log's key: give it with --log-key";
const WITNESS = "this is a witness's key: give it with --witness-key";
const PRIVATE = "this is a private key. It belongs on its host alone: give the public one";

/** What somebody gave who mixed up two options, and what to do. */
const KINDS: Readonly<Record<KeyKind, string>> = {
  public: PUBLIC,
  log: LOG,
  witness: WITNESS,
  private: PRIVATE,
  identity: PRIVATE,
  recipient: "this is an age recipient, which encrypts and signs nothing: give the agent's keys/agent.pub",
  auth_key: "this is an auth key, which attaches a host and signs nothing: give the agent's keys/agent.pub",
  token: "this is a token: it is given in the environment variable ATTESTORE_TOKEN, for --prove",
  certificate: "this is a certificate: --ca takes that of the service's authority",
  fingerprint: "this is only a key's fingerprint: give the key itself",
};

/** Null if it looks like no key. */
function otherKindOf(bytes: Uint8Array): string | null {
  const kind = keyKind(new TextDecoder().decode(bytes));
  return kind === null ? null : KINDS[kind];
}

/**
 * Reads a key rotation and verifies both keys' signatures over it; null for one of a key that
 * decrypts, which leads to no signing key. Throws CannotTell.
 */
export async function readRotation(path: string): Promise<KeyRotation | null> {
  const bytes = await readSmallFile(path, MAX_KEY_ROTATION_SIZE);
  try {
    return isEncryptionKeyRotation(bytes) ? null : await verifyKeyRotation(parseKeyRotation(bytes));
  } catch (error) {
    if (error instanceof ProofError) throw new CannotTell("rotation_unreadable", `${path}: ${error.message}`);
    throw error;
  }
}

/** Reads the log's key: the text itself, or a file that holds it. Throws CannotTell. */
export async function readLogKey(textOrPath: string): Promise<NoteVerifier> {
  const key = await readVerifierKey("--log-key", textOrPath);
  // A log's key signs checkpoint texts. A witness's key (cosignature/v1) cannot be used as one.
  if (key.algorithm === "ed25519") return key;
  throw new CannotTell("key_unreadable", `${textOrPath}: ${WITNESS}`);
}

/** Reads a witness's key: the text itself, or a file that holds it. Throws CannotTell. */
export async function readWitnessKey(textOrPath: string): Promise<NoteVerifier> {
  const key = await readVerifierKey("--witness-key", textOrPath);
  if (key.algorithm === "cosignature/v1") return key;
  throw new CannotTell("key_unreadable", `${textOrPath}: ${LOG}`);
}

async function readVerifierKey(option: string, textOrPath: string): Promise<NoteVerifier> {
  const looksLikeKey = /^[^+]+\+[0-9a-f]{8}\+/.test(textOrPath);
  if (looksLikeKey) return asKey(option, () => parseVerifierKey(textOrPath));
  const bytes = await readSmallFile(textOrPath, MAX_KEY_FILE);
  const kind = otherKindOf(bytes);
  return asKey(textOrPath, () => {
    if (kind !== null && kind !== LOG && kind !== WITNESS) throw new ProofError("malformed_key", kind);
    return parseVerifierKey(fromUtf8(bytes).trim());
  });
}

function asKey<T>(source: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ProofError) throw new CannotTell("key_unreadable", `${source}: ${error.message}`);
    throw error;
  }
}
