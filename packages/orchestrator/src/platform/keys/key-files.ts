import { createPrivateKey, generateKeyPairSync, randomBytes } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createFile } from "@attestore/host/durable-files";
import { errorCode } from "@attestore/host/errno";
import { UserError } from "../errors/user-error.ts";

/** Whether a missing key may be made: only while nothing exists yet that it would have to fit. */
export type IfMissing = "create" | "refuse";

const SECRET_BYTES = 32;
const BASE64_LINE = /^[A-Za-z0-9+/]{43}=\n?$/;

/** An Ed25519 private key, PKCS #8 in PEM (RFC 8410). */
export async function loadSigningKey(path: string, ifMissing: IfMissing): Promise<KeyObject> {
  const pem = await loadText(path, ifMissing, () =>
    generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  );
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw new UserError("key_file", `${path} is not a private key in PEM. Restore it from a backup.`, {
      cause: error,
    });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new UserError(
    "key_file",
    `${path} holds a ${key.asymmetricKeyType} key but must hold an Ed25519 key. Restore it from a backup.`,
  );
}

/** 32 random bytes, stored as one line of base64. */
export async function loadSecret(path: string, ifMissing: IfMissing): Promise<Buffer> {
  const text = await loadText(path, ifMissing, () => `${randomBytes(SECRET_BYTES).toString("base64")}\n`);
  const bytes = Buffer.from(text.trimEnd(), "base64");
  if (BASE64_LINE.test(text) && bytes.length === SECRET_BYTES) return bytes;
  throw new UserError("key_file", `${path} does not hold 32 bytes in base64. Restore it from a backup.`);
}

async function loadText(path: string, ifMissing: IfMissing, make: () => string): Promise<string> {
  for (;;) {
    try {
      const { mode } = await stat(path);
      if ((mode & 0o077) !== 0) {
        throw new UserError("key_file", `Other users can read ${path}. Fix that first: chmod 600 ${path}`);
      }
      return await readFile(path, "utf8");
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
    if (ifMissing === "refuse") {
      throw new UserError(
        "key_file",
        `${path} is missing, and the database was written with it: a new one would not match the log. Restore the directory keys/ from the same backup as the database.`,
      );
    }
    // If two processes start at once, one creates the file and both then read it.
    await createFile(path, make());
  }
}
