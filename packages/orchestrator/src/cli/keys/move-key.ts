import { createPrivateKey, createPublicKey } from "node:crypto";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { readFile } from "node:fs/promises";
import { UserError } from "../../platform/errors/user-error.ts";
import type { PrivateMaterial } from "../../platform/keys/token/token-calls.ts";
import { tokenAuthorityKey, tokenSigningKey } from "../../platform/keys/token/token-keys.ts";
import type { Token } from "../../platform/keys/token/token.ts";
import type { KeySlot } from "../../platform/keys/key-slots.ts";

export type MovedKey = "there already" | "moved" | "made";

/**
 * Puts a signing key into the token: the one in the file, or a new one if there is no file and
 * nothing was signed yet. Afterwards the key in the token has signed something that its public half
 * verifies. The file stays.
 * @param inUse the public half that others pin: 32 bytes, or 65; null while nobody does
 * @throws UserError `key_file` if the file, the token and the key in use are not the same,
 * KeyTokenError
 */
export async function moveSigningKey(
  token: Token,
  slot: KeySlot & { kind: "ed25519" | "p256"; uri: string },
  inUse: Uint8Array | null,
): Promise<MovedKey> {
  const { uri, kind, file } = slot;
  const held = await readMaterial(file, kind);
  const wanted = held?.publicKey ?? inUse;
  if (held !== null && inUse !== null && !Buffer.from(held.publicKey).equals(inUse))
    throw new UserError("key_file", `${file} is not the key in use. Nothing was moved.`);
  const before = await token.find(uri, kind);
  if (before === null && held === null && inUse !== null)
    throw new UserError(
      "key_file",
      `The key in use is neither in ${file} nor in the token as ${uri}. Restore one of them from a backup.`,
    );
  if (before === null && held === null) await token.generate(uri, kind);
  if (before === null && held !== null) await token.import(uri, kind, held);
  const after = await token.find(uri, kind);
  if (wanted !== null && !Buffer.from(after?.publicKey ?? []).equals(wanted))
    throw new UserError(
      "key_file",
      `The token's ${uri} is not the key in use. Set ${slot.setting} to an object that does not exist yet.`,
    );
  if (kind === "ed25519") await tokenSigningKey(token, uri);
  else await (await tokenAuthorityKey(token, uri)).sign(Buffer.from("attestore key check"));
  return before !== null ? "there already" : held === null ? "made" : "moved";
}

/** Null if there is no such file. */
async function readMaterial(file: string, kind: "ed25519" | "p256"): Promise<PrivateMaterial | null> {
  const pem = await nullIfMissing(readFile(file, "utf8"));
  if (pem === null) return null;
  const key = createPrivateKey(pem);
  const { d = "", crv } = key.export({ format: "jwk" });
  if (crv !== (kind === "ed25519" ? "Ed25519" : "P-256"))
    throw new UserError("key_file", `${file} does not contain a key of ${kind}.`);
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return { secret: Buffer.from(d, "base64url"), publicKey: spki.subarray(kind === "ed25519" ? -32 : -65) };
}
