import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildRelease } from "../../../tools/package/build-release.ts";
import { bundle } from "../../../tools/package/bundle.ts";
import { makeExecutable } from "../../../tools/package/executable.ts";
import { nodeBinary } from "../../../tools/package/node-binary.ts";
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

/** Another program, made in the same way as those that ship. */
export async function buildLikeShipped(entry: string, target: string): Promise<void> {
  const scratch = mkdtempSync(join(dirname(target), ".build-"));
  try {
    const { code } = await bundle(entry, null);
    const node = nodeBinary("amd64", scratch);
    makeExecutable({ name: "attestore", code, architecture: "amd64", node }, target, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
