import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildRelease } from "../../../tools/package/build-release.ts";
import { epochHere, versionHere } from "../../../tools/package/release.ts";
import { signingKey } from "../../../tools/package/signature.ts";

/** The executables as they ship, built into the directory. */
export async function buildShipped(directory: string): Promise<{ agent: string; verifier: string }> {
  const out = join(directory, "release");
  mkdirSync(out);
  const release = {
    version: versionHere(),
    epoch_s: epochHere(process.env),
    out,
    compression: "fast" as const,
    releaseKey: null,
  };
  await buildRelease(release, ["amd64"], signingKey(undefined), () => undefined);
  return { agent: join(out, "attestore-linux-amd64"), verifier: join(out, "attestore-verify-linux-amd64") };
}
