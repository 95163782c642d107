import { createHash } from "node:crypto";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isSea } from "node:sea";
import { pipeline } from "node:stream/promises";
import { RELEASE_KEY } from "@attestore/contract";
import { verifyMinisign } from "../../crypto/minisign.ts";
import { type Finding, ok, warning } from "@attestore/host/finding";

/**
 * Where the installer keeps the list that it verified, with its signature and key; it belongs to
 * root, so the agent can't change it.
 */
const INSTALLED_FROM = "/usr/lib/attestore/release";
const TITLE = "release";

export interface Installed {
  /** The running program. */
  readonly program: string;
  /** Its name in SHA256SUMS. */
  readonly name: string;
  /** Contains SHA256SUMS, SHA256SUMS.minisig and minisign.pub. */
  readonly directory: string;
}

/** The signer of the running program. */
export function examineRelease(): Promise<Finding> {
  if (!isSea()) return Promise.resolve(ok(TITLE, "runs from source, not from a release"));
  const name = `attestore-linux-${process.arch === "x64" ? "amd64" : process.arch}`;
  return examineInstalled({ program: process.execPath, name, directory: INSTALLED_FROM }, RELEASE_KEY);
}

/**
 * Compares a program with the signed list that it was installed from, without trusting the person
 * who installed it.
 */
export async function examineInstalled(installed: Installed, releaseKey: string | null): Promise<Finding> {
  const read = (name: string): Promise<string | null> =>
    nullIfMissing(readFile(join(installed.directory, name), "utf8"));
  const [sums, signature, keyFile] = [
    await read("SHA256SUMS"),
    await read("SHA256SUMS.minisig"),
    await read("minisign.pub"),
  ];
  if (sums === null || signature === null || keyFile === null)
    return warning(
      TITLE,
      "unknown who signed this program: it was installed without install.sh",
      "to verify it, see docs/releasing.md",
    );
  const key = keyFile.trim().split("\n").at(-1) ?? "";
  const comment = verifyMinisign(key, Buffer.from(sums), signature);
  const listed = sums
    .split("\n")
    .find((line) => line.slice(66) === installed.name)
    ?.slice(0, 64);
  if (comment === null || listed === undefined || listed !== (await sha256Of(installed.program)))
    return warning(
      TITLE,
      `${installed.program} differs from the signed program`,
      "find out who replaced it, then reinstall it with install.sh",
    );
  if (key === releaseKey) return ok(TITLE, `${comment}, signed by Attestore's release key`);
  return warning(
    TITLE,
    `${comment}, signed by an operator's key ${key}: whoever holds that key decides what runs here`,
    releaseKey === null
      ? "compare the key with the one that your operator gave you"
      : "compare the key with the one that your operator gave you, or install an official release",
  );
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
