import { isBuiltin } from "node:module";
import { type OutputChunk, type OutputOptions, rolldown, type Plugin } from "rolldown";
import { REPOSITORY } from "./release.ts";

export interface Bundle {
  /** One CommonJS module, readable: an uncaught error prints a line of it. */
  readonly code: string;
  /** The files that it is made of. */
  readonly modules: readonly string[];
}

/**
 * Everything that a program imports, in one file. Its modules run when they are first needed, as
 * they would unbundled.
 *
 * @param releaseKey minisign's public key that it takes releases from; null for none
 */
export async function bundle(entry: string, releaseKey: string | null): Promise<Bundle> {
  const [chunk, ...more] = await chunksOf(entry, releaseKey, { codeSplitting: false });
  if (chunk === undefined || more.length > 0) throw new Error(`${entry} was not bundled into one file`);
  return { code: inAscii(chunk.code), modules: chunk.moduleIds };
}

/**
 * The same in several files: each `import()` in the sources has one, which is read only when it is
 * needed.
 *
 * @returns the code of each file by its name; `main` is that of the entry
 */
export async function bundleInParts(entry: string, main: string): Promise<ReadonlyMap<string, string>> {
  const chunks = await chunksOf(entry, null, { codeSplitting: true, entryFileNames: main });
  return new Map(chunks.map(({ code, fileName }) => [fileName, inAscii(code)] as const));
}

async function chunksOf(
  entry: string,
  releaseKey: string | null,
  output: Pick<OutputOptions, "codeSplitting" | "entryFileNames">,
): Promise<OutputChunk[]> {
  const missing: string[] = [];
  const build = await rolldown({
    input: entry,
    // Paths in it are relative to this.
    cwd: REPOSITORY,
    platform: "node",
    plugins: [builtinsWhenNeeded, withReleaseKey(releaseKey)],
    // That it took long, as on a busy machine, is no fault of the bundle.
    checks: { bundlerTimings: false },
    onLog: (_, log) => missing.push(log.message),
  });
  const made = await build.generate({
    ...output,
    format: "cjs",
    comments: false,
    minify: false,
    chunkFileNames: "[name]-[hash].cjs",
  });
  await build.close();
  // A warning is an import that is not there or not bundled; it would surface on a customer's host.
  if (missing.length > 0) throw new Error(`${entry} does not bundle cleanly:\n${missing.join("\n")}`);
  return made.output.map((file) => {
    if (file.type === "chunk") return file;
    throw new Error(`${entry} was bundled into ${file.fileName}, which is not code`);
  });
}

/**
 * The same program without any character beyond ASCII: Node keeps a source with one as two bytes
 * for each character, and every start takes a fifth longer.
 */
export function inAscii(code: string): string {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code))
    throw new Error("a raw template contains a character that is not ASCII, and its escape would be printed");
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const MARK = "\0builtin:";

/**
 * The bundler would load all of Node's own modules at the start, which alone doubles the time of
 * `--version`.
 */
const builtinsWhenNeeded: Plugin = {
  name: "builtins-when-needed",
  resolveId: (id, importer) =>
    isBuiltin(id) && importer?.startsWith(MARK) !== true
      ? { id: `${MARK}${id}.cjs`, moduleSideEffects: false }
      : null,
  load: (id) =>
    id.startsWith(MARK)
      ? `module.exports = require(${JSON.stringify(id.slice(MARK.length, -".cjs".length))});`
      : null,
};

/**
 * The release's key in the place of the source's: tests build releases of a project whose key they
 * have.
 */
function withReleaseKey(key: string | null): Plugin {
  return {
    name: "release-key",
    load: (id) =>
      id.endsWith("/packages/contract/src/release-key.ts")
        ? `export const RELEASE_KEY = ${JSON.stringify(key)};`
        : null,
  };
}
