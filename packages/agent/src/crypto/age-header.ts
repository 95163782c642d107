import { createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import { Decrypter, Encrypter } from "age-encryption";
import { identityFrom } from "./identity.ts";
import { recipientFrom } from "./recipient.ts";
import { SshKeyError } from "./ssh-private-key.ts";
import { UserError } from "../errors/user-error.ts";
import { RunError } from "../errors/run-error.ts";
import { socketOf } from "../signer-client/signer-reference.ts";
import { fileKeyFrom } from "../signer-client/remote-identities.ts";
import { DamagedCiphertext } from "./damaged.ts";

/**
 * An age header is text; ours are some hundred bytes. Room for hundreds of recipients, none for an
 * attack.
 */
export const MAX_HEADER_BYTES = 64 * 1024;
export const PAYLOAD_NONCE_BYTES = 16;

const INTRO = Buffer.from("age-encryption.org/v1\n");
const MAC_LINE = Buffer.from("\n--- ");

export interface SealedHeader {
  /** The header and the payload's nonce: everything before the first chunk. */
  readonly bytes: Buffer;
  readonly payloadKey: KeyObject;
}

/**
 * A fresh header of an age v1 file (C2SP age.md) for X25519 and SSH recipients.
 * @throws RunError `recipient_invalid`.
 */
export async function makeHeader(recipients: readonly string[]): Promise<SealedHeader> {
  if (recipients.length === 0) {
    throw new RunError(
      "recipient_invalid",
      "no recipient to encrypt to: name at least one age1… key under encryption.recipients",
    );
  }
  const encrypter = new Encrypter();
  for (const recipient of recipients) addRecipient(encrypter, recipient);
  // The library hands the file key to each recipient; this one keeps it and adds nothing to the
  // header. So the header is the library's and only the payload is ours: its own payload cipher is
  // JavaScript, and far too slow.
  let fileKey: Buffer | null = null;
  encrypter.addRecipient({
    wrapFileKey: (key) => {
      fileKey = Buffer.from(key);
      return [];
    },
  });
  // As a stream: for bytes the library asks Node for a `Response`, and to load what that belongs to
  // takes longer than all else here.
  const chunks: Uint8Array[] = [];
  const nothing = new ReadableStream<Uint8Array<ArrayBuffer>>({ start: (controller) => controller.close() });
  for await (const chunk of await encrypter.encrypt(nothing)) chunks.push(chunk);
  const empty = Buffer.concat(chunks);
  if (fileKey === null) throw new Error("age-encryption returned a header without a file key");
  const EMPTY_PAYLOAD_BYTES = PAYLOAD_NONCE_BYTES + 16;
  const header = empty.subarray(0, empty.length - EMPTY_PAYLOAD_BYTES);
  const nonce = randomBytes(PAYLOAD_NONCE_BYTES);
  return { bytes: Buffer.concat([header, nonce]), payloadKey: derivePayloadKey(fileKey, nonce) };
}

function addRecipient(encrypter: Encrypter, text: string): void {
  const recipient = recipientFrom(text);
  if (recipient === null)
    throw new RunError(
      "recipient_invalid",
      `"${text.slice(0, 80)}" is neither an age X25519 recipient (age1…, 62 characters) nor an ssh-ed25519 or ssh-rsa public key`,
    );
  encrypter.addRecipient(recipient);
}

/**
 * The end of the header in the first bytes of a file: the offset just after the MAC line.
 * @throws DamagedCiphertext `not_age`, `header_damaged` if it does not end within these bytes.
 */
export function findHeaderEnd(start: Buffer): number {
  if (!start.subarray(0, INTRO.length).equals(INTRO)) {
    throw new DamagedCiphertext("not_age", "the file does not start as an age v1 file does");
  }
  // Stanza lines start with "-> " and bodies are base64, so the first line that starts with "--- "
  // is the MAC's.
  const mac = start.indexOf(MAC_LINE, INTRO.length - 1);
  const end = mac === -1 ? -1 : start.indexOf(0x0a, mac + MAC_LINE.length);
  if (end === -1) throw new DamagedCiphertext("header_damaged", "the age header does not end");
  return end + 1;
}

/**
 * The payload key of a file whose header is `header` and whose payload begins with `nonce`.
 * Identities that the signing process holds it opens the header with, if none that is here does.
 * @throws DamagedCiphertext `header_damaged`; RunError `identity_missing` if no identity fits a
 *   sound header, or the signing process does not answer, `identity_invalid`.
 */
export async function openHeader(
  header: Buffer,
  nonce: Buffer,
  identities: readonly string[],
): Promise<KeyObject> {
  const own = identities.filter((each) => socketOf(each) === null);
  const sockets = new Set(identities.flatMap((each) => socketOf(each) ?? []));
  try {
    return derivePayloadKey(await fileKeyOf(header, own), nonce);
  } catch (error) {
    const isMissing = error instanceof RunError && error.code === "identity_missing";
    if (!isMissing || sockets.size === 0) throw error;
  }
  for (const socket of sockets) {
    const fileKey = await heldFileKey(socket, header);
    if (fileKey === "damaged") throw damagedHeader();
    if (fileKey !== "no identity") return derivePayloadKey(fileKey, nonce);
  }
  throw noIdentity();
}

async function heldFileKey(socket: string, header: Buffer): Promise<Buffer | "no identity" | "damaged"> {
  try {
    return await fileKeyFrom(socket, header);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new RunError("identity_missing", error.message, { cause: error });
  }
}

/** The file key of a file with that header, by identities that are here. @throws as openHeader */
export async function fileKeyOf(header: Buffer, identities: readonly string[]): Promise<Buffer> {
  const decrypter = new Decrypter();
  for (const identity of identities) addIdentity(decrypter, identity);
  let fileKey: Uint8Array;
  try {
    fileKey = await decrypter.decryptHeader(header);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("no identity matched")) throw noIdentity();
    throw damagedHeader(error);
  }
  if (fileKey.length !== 16)
    throw new DamagedCiphertext("header_damaged", "the age header holds no 16-byte file key");
  return Buffer.from(fileKey);
}

function noIdentity(): RunError {
  return new RunError(
    "identity_missing",
    "none of the given identities can decrypt the backup: add the identity file it was made for to encryption.identity_files",
  );
}

function damagedHeader(cause?: unknown): DamagedCiphertext {
  return new DamagedCiphertext("header_damaged", "the age header is malformed or its MAC does not verify", {
    cause,
  });
}

function addIdentity(decrypter: Decrypter, text: string): void {
  let identity;
  try {
    identity = identityFrom(text);
  } catch (error) {
    if (!(error instanceof SshKeyError)) throw error;
    throw new RunError("identity_invalid", `an SSH key can't be used as an identity: ${error.message}`);
  }
  if (identity === null)
    throw new RunError(
      "identity_invalid",
      "an identity is not a complete AGE-SECRET-KEY-1…: compare the identity files with the originals",
    );
  decrypter.addIdentity(identity);
}

/**
 * As a KeyObject: importing the key for each chunk would take a third of the time that the cipher
 * takes.
 */
function derivePayloadKey(fileKey: Buffer, nonce: Buffer): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync("sha256", fileKey, nonce, "payload", 32)));
}
