import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { RELEASE_KEY } from "@attestore/contract";
import { errorCode } from "@attestore/host/errno";

const MINISIGN_PUBLIC_KEY = /^RW[A-Za-z0-9+/]{54}$/;

/**
 * The minisign public key that a host needs before it installs from this directory. Null if
 * Attestore's own release key signed it, which every installer knows, or if nothing was built yet.
 */
export async function operatorsKey(directory: string): Promise<string | null> {
  const key = (await textOf(join(directory, "minisign.pub"))).trim().split("\n").at(-1) ?? "";
  return key === RELEASE_KEY || !MINISIGN_PUBLIC_KEY.test(key) ? null : key;
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return "";
    throw error;
  }
}
