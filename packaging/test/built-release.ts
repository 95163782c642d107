import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { REPOSITORY, versionHere } from "../../tools/package/release.ts";
import { runProgram } from "../../tools/package/run-program.ts";
import { signingKey } from "../../tools/package/signature.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * A release as `npm run package` builds it, signed with a key of the tests that stands for the
     * project's. When the file `ended` is there it is built, or could not be: then the file says
     * why. `releaseHere` waits for it.
     */
    release: { out: string; version: string; keyFile: string; ended: string };
  }
}

/**
 * Once for all of the project's tests, and beside those of other projects, which wait for no
 * release.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const base = mkdtempSync(join(tmpdir(), "attestore-release-"));
  const keyFile = join(base, "test.key");
  runProgram("minisign", ["-G", "-W", "-p", `${keyFile}.pub`, "-s", keyFile]);
  const [out, ended] = [join(base, "dist"), join(base, "ended")];
  const args = [
    "--fast",
    "--out",
    out,
    "--minisign-key",
    keyFile,
    "--release-key",
    signingKey(keyFile).publicKey,
  ];
  const build = spawn(
    process.execPath,
    ["--no-warnings", join(REPOSITORY, "tools/package/main.ts"), ...args],
    {
      cwd: REPOSITORY,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let said = "";
  for (const stream of [build.stdout, build.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  const over = once(build, "close").then(([code]) => {
    // Under its name it is whole.
    writeFileSync(`${ended}.new`, code === 0 ? "" : said || `npm run package ended with ${code}`);
    renameSync(`${ended}.new`, ended);
  });
  project.provide("release", { out, version: versionHere(), keyFile, ended });
  return async () => {
    build.kill();
    await over;
    rmSync(base, { recursive: true, force: true });
  };
}
