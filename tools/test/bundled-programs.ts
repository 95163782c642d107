import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProvidedContext } from "vitest";
import type { TestProject, Vite } from "vitest/node";
import { unprivilegedUser } from "../../packages/agent/src/processes/unprivileged-user.ts";
import { bundleService } from "./bundled-service.ts";
import { prepareClusters, type PreparedClusters } from "./prepared-clusters.ts";
import { bundle, bundleInParts } from "../package/bundle.ts";
import { REPOSITORY } from "../package/release.ts";

declare module "vitest" {
  interface ProvidedContext {
    /**
     * The agent in parts and the verifier in one file: paths of CommonJS modules for `node`.
     */
    programs: { attestore: string; "attestore-verify": string };
    /** The service likewise: it ships as sources, and the tests of what ships start those. */
    service: string;
    /** In the project of tests that start programs. */
    clusters: PreparedClusters | undefined;
  }
}

interface Bundled {
  paths: ProvidedContext["programs"];
  /** Bundled for the first who asks. */
  service: () => Promise<string>;
  clusters: () => Promise<PreparedClusters>;
  remove: () => void;
}

/**
 * Each project's set-up is another instance of this module; what one of them has made serves them
 * all.
 */
const SHARED = Symbol.for("attestore.bundled-programs");
const shared = globalThis as { [SHARED]?: Promise<Bundled> };

/**
 * Once for all tests of a run. They start the agent more than a thousand times, and from its
 * several hundred sources that takes three times as long as from one file.
 */
export async function setup(project: TestProject): Promise<() => void> {
  const { paths, service, clusters, remove } = await (shared[SHARED] ??= bundlePrograms());
  project.provide("programs", paths);
  project.provide("service", await service());
  // All other restores of tests have clusters made as a customer's are.
  if (project.name === "unit (isolated)") project.provide("clusters", await clusters());
  // When all tests are over.
  return remove;
}

/** The tests of what ships are provided with no bundle; their own children are of the sources. */
const URL_OF_BUNDLE =
  '(inject("programs") === undefined ? import.meta.url : `file://${inject("programs").attestore}`)';

/**
 * For tests that call the agent's functions in their own process: the children that these start are
 * the bundle too. From sources each takes three times as long.
 */
export const childrenAreBundled: Vite.Plugin = {
  name: "children-are-bundled-where-there-is-a-bundle",
  transform(code, id) {
    if (!id.endsWith("/packages/agent/src/processes/own-program.ts")) return null;
    // Asked for as the test runs: what is transformed is kept for later runs, whose bundle is
    // elsewhere.
    return `import { inject } from "vitest";\n${code.replace("import.meta.url", URL_OF_BUNDLE)}`;
  },
};

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
    // It ships in one file, of which each start reads all: packaging/test starts that.
    const parts = await bundleInParts(
      join(REPOSITORY, "packages/agent/src/single-executable.ts"),
      "program.cjs",
    );
    for (const [name, code] of parts) writeFileSync(join(directory, name), beginningAtStart(code));
    const paths = {
      attestore: await compiledOnce(directory),
      "attestore-verify": await write("attestore-verify.cjs", "verifier/src/main.ts"),
    };
    let bundled: Promise<string> | undefined;
    let prepared: Promise<PreparedClusters> | undefined;
    return {
      paths,
      service: () => (bundled ??= bundleService(join(directory, "service"))),
      clusters: () => (prepared ??= prepareClusters(directory)),
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

const START = "attestore.cjs";
/** The agent's own children that end where nobody talks to them. */
const CHILDREN = ["internal-sqlite", "internal-tree", "internal-sandbox"];

/** Where the program looks for itself, to start its children: these too begin at the start. */
function beginningAtStart(code: string): string {
  return code.replaceAll(
    "pathToFileURL(__filename)",
    `pathToFileURL(__filename.replace(/[^/]+$/, "${START}"))`,
  );
}

/**
 * What starts `program.cjs` with its code compiled already, also in a sandbox, which leaves nothing
 * of the environment and shows that directory at another path.
 */
async function compiledOnce(directory: string): Promise<string> {
  const [start, cache] = [join(directory, START), join(directory, "compiled")];
  writeFileSync(
    start,
    `require("node:module").enableCompileCache({ directory: __dirname + "/compiled", portable: true });\nrequire("./program.cjs");\n`,
  );
  mkdirSync(cache);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("NODE_")));
  // Each user has a cache of their own, which is written when the program ends. One who can't reach
  // this checkout does without.
  for (const user of [null, await unprivilegedUser()]) {
    if (user !== null) chownSync(cache, user.uid, user.gid);
    for (const program of ["--version", ...CHILDREN])
      spawnSync(process.execPath, [start, program], {
        env,
        cwd: "/",
        stdio: "ignore",
        ...(user === null ? {} : { uid: user.uid, gid: user.gid }),
      });
  }
  return start;
}
