import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProvidedContext } from "vitest";
import type { TestProject } from "vitest/node";
import { bundleService } from "./bundled-service.ts";
import { bundle } from "../package/bundle.ts";
import { REPOSITORY } from "../package/release.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The agent and the verifier, each in one file as they ship: paths of CommonJS modules for `node`. */
    programs: { attestore: string; "attestore-verify": string };
    /** The service likewise: it ships as sources, and the tests of what ships start those. */
    service: string;
  }
}

interface Bundled {
  paths: ProvidedContext["programs"];
  /** Bundled for the first who asks. */
  service: () => Promise<string>;
  remove: () => void;
}

/** Each project's set-up is another instance of this module; what one of them has made serves them all. */
const SHARED = Symbol.for("attestore.bundled-programs");
const shared = globalThis as { [SHARED]?: Promise<Bundled> };

/**
 * Once for all tests of a run. They start the agent more than a thousand times, and from its several hundred sources
 * that takes three times as long as from one file.
 */
export async function setup(project: TestProject): Promise<() => void> {
  const { paths, service, remove } = await (shared[SHARED] ??= bundlePrograms());
  project.provide("programs", paths);
  project.provide("service", await service());
  // When all tests are over.
  return remove;
}

async function bundlePrograms(): Promise<Bundled> {
  const directory = mkdtempSync(join(tmpdir(), "attestore-programs-"));
  // A sandbox's user runs them too.
  chmodSync(directory, 0o755);
  const remove = (): void => rmSync(directory, { recursive: true, force: true });
  const write = async (file: string, source: string): Promise<string> => {
    const { code } = await bundle(join(REPOSITORY, "packages", source), null);
    const path = join(directory, file);
    writeFileSync(path, code);
    return path;
  };
  try {
    const paths = {
      attestore: await write("attestore.cjs", "agent/src/single-executable.ts"),
      "attestore-verify": await write("attestore-verify.cjs", "verifier/src/main.ts"),
    };
    let bundled: Promise<string> | undefined;
    return { paths, service: () => (bundled ??= bundleService(join(directory, "service"))), remove };
  } catch (error) {
    remove();
    throw error;
  }
}
