import { randomBytes } from "node:crypto";
import { seal } from "../crypto/seal.ts";
import { unseal } from "../crypto/unseal.ts";
import type { ForeignMetadata, SourceMetadata } from "../engines/engine.ts";

const KEY_BYTES = 32;
/**
 * For the base64. A receipt has no more room; this is enough for 8 recipients with RSA keys, or
 * about 60 others.
 */
const MAX_SEALED = 8 << 10;

export interface ContentKey {
  readonly key: Buffer;
  /**
   * An age file in base64 for the backup's recipients: it contains the key, compressed as a dump
   * is.
   */
  readonly sealed: string;
}

/**
 * The backup's own key, under which its receipt signs what its tables hold; null if a receipt has
 * no room for it. @throws RunError `recipient_invalid`
 */
export async function makeContentKey(recipients: readonly string[]): Promise<ContentKey | null> {
  const key = randomBytes(KEY_BYTES);
  const pieces = await Array.fromAsync(seal(once(key), recipients));
  const sealed = Buffer.concat(pieces).toString("base64");
  return sealed.length > MAX_SEALED ? null : { key, sealed };
}

/** The metadata, with the key if anything in them is signed under it. */
export function withContentKey(metadata: SourceMetadata, key: ContentKey | null): SourceMetadata {
  const { content, attributes, databases, original } = metadata;
  const hasContent =
    content !== undefined ||
    attributes !== undefined ||
    // A restore test signs what another program's dump holds.
    original !== undefined ||
    (Array.isArray(databases) && databases.some(hasOwnContent));
  return key === null || !hasContent ? metadata : { ...metadata, content_key: key.sealed };
}

/**
 * The key in a backup's metadata; null if there is none.
 * @throws DamagedCiphertext; RunError `identity_missing`
 */
export async function openContentKey(
  metadata: ForeignMetadata,
  identities: readonly string[],
): Promise<Buffer | null> {
  const sealed = metadata["content_key"];
  if (typeof sealed !== "string" || sealed.length > MAX_SEALED) return null;
  const key = Buffer.concat(
    await Array.fromAsync(unseal(once(Buffer.from(sealed, "base64")), identities), (piece) =>
      Buffer.from(piece),
    ),
  );
  return key.length === KEY_BYTES ? key : null;
}

function hasOwnContent(database: unknown): boolean {
  return typeof database === "object" && database !== null && "content" in database;
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  yield await Promise.resolve(bytes);
}
