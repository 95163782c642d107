import { readText } from "../state/read-json.ts";
import { wrongKey } from "../errors/wrong-key.ts";
import { UserError } from "../errors/user-error.ts";

/** PEM, or null if the public CAs are trusted. @throws UserError key_file */
export async function readPinnedCa(path: string | null): Promise<string | null> {
  if (path === null) return null;
  const pem = await readText(path);
  if (pem === null) throw new UserError("key_file", `the CA file ${path} does not exist`);
  if (!pem.includes("-----BEGIN CERTIFICATE-----"))
    throw new UserError("key_file", `${path} holds no certificate in PEM${wrongKey(pem)}`);
  return pem;
}
