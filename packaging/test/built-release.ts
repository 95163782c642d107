import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildRelease } from "../../tools/package/build-release.ts";
import { epochHere, versionHere } from "../../tools/package/release.ts";
import { runProgram } from "../../tools/package/run-program.ts";
import { signingKey } from "../../tools/package/signature.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A release as `npm run package` builds it, signed with a key of the tests that stands for the project's. */
    release: { out: string; version: string; keyFile: string };
  }
}

/** Once for all of the project's tests. */
export async function setup(project: TestProject): Promise<() => void> {
  const base = mkdtempSync(join(tmpdir(), "attestore-release-"));
  const remove = (): void => rmSync(base, { recursive: true, force: true });
  try {
    const keyFile = join(base, "test.key");
    runProgram("minisign", ["-G", "-W", "-p", `${keyFile}.pub`, "-s", keyFile]);
    const out = join(base, "dist");
    const version = versionHere();
    const key = signingKey(keyFile);
    const release = {
      version,
      epoch_s: epochHere(process.env),
      out,
      compression: "fast" as const,
      releaseKey: key.publicKey,
    };
    await buildRelease(release, ["amd64"], key, () => undefined);
    project.provide("release", { out, version, keyFile });
  } catch (error) {
    remove();
    throw error;
  }
  return remove;
}
