import { existsSync, readFileSync } from "node:fs";

/** minisign's base64 in a public key file; null where there is none. */
export function parsePublicKey(file: string): string | null {
  if (!existsSync(file)) return null;
  const [, key = ""] = readFileSync(file, "utf8").split("\n");
  return /^RW[A-Za-z0-9+/]{54}$/.test(key) ? key : null;
}
