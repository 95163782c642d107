import { isBuiltin } from "node:module";
import { rolldown, type Plugin } from "rolldown";
import { REPOSITORY } from "./release.ts";

export interface Bundle {
  /** One CommonJS module, readable: an uncaught error prints a line of it. */
  readonly code: string;
  /** The files that it is made of. */
  readonly modules: readonly string[];
}

/**
 * Everything that a program imports, in one file. Its modules run when they are first needed, as they would unbundled.
 *
 * @param releaseKey minisign's public key that it takes releases from; null for none
 */
export async function bundle(entry: string, releaseKey: string | null): Promise<Bundle> {
  const missing: string[] = [];
  const build = await rolldown({
    input: entry,
    // Paths in it are relative to this.
    cwd: REPOSITORY,
    platform: "node",
    plugins: [builtinsWhenNeeded, withReleaseKey(releaseKey)],
    onLog: (_, log) => missing.push(log.message),
  });
  const { output } = await build.generate({
    format: "cjs",
    codeSplitting: false,
    comments: false,
    minify: false,
  });
  await build.close();
  // A warning is an import that is not there or not bundled; it would surface on a customer's host.
  if (missing.length > 0) throw new Error(`${entry} does not bundle cleanly:\n${missing.join("\n")}`);
  const [chunk, ...more] = output;
  if (more.length > 0) throw new Error(`${entry} gave more than one file`);
  return { code: chunk.code, modules: chunk.moduleIds };
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
