import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown, type Plugin } from "rolldown";
import { inAscii } from "../package/bundle.ts";
import { REPOSITORY } from "../package/release.ts";

/**
 * `attestore-server` in a few files, for tests only: it ships as sources. To find and read more
 * than a thousand of them is a third of its start, and most of what its other commands do.
 *
 * @returns the path of an ES module for `node`
 */
export async function bundleService(directory: string): Promise<string> {
  const missing: string[] = [];
  const build = await rolldown({
    input: join(REPOSITORY, "packages/orchestrator/src/main.ts"),
    cwd: REPOSITORY,
    platform: "node",
    plugins: [whereTheSourceIs],
    // That it took long, as on a busy machine, is no fault of the bundle.
    checks: { bundlerTimings: false },
    onLog: (_, log) => missing.push(log.message),
  });
  const { output } = await build.generate({ format: "esm", comments: false, minify: false });
  await build.close();
  if (missing.length > 0) throw new Error(`the service does not bundle cleanly:\n${missing.join("\n")}`);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }\n');
  for (const file of output)
    writeFileSync(join(directory, file.fileName), file.type === "chunk" ? inAscii(file.code) : file.source);
  return join(directory, "main.js");
}

/**
 * Migrations, the dashboard's build and PostgreSQL's programs are found from the source's own
 * place.
 */
const whereTheSourceIs: Plugin = {
  name: "where-the-source-is",
  transform: (code, id) =>
    code.includes("import.meta")
      ? code
          .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
          .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
      : null,
};
