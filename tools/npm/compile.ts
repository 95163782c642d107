import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../package/release.ts";

/**
 * Compiles the sources of packages below `out`, as `out/<package>/src/*.js` with their types beside
 * them.
 */
export function compile(packages: readonly string[], out: string): void {
  const config = {
    extends: join(REPOSITORY, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      incremental: false,
      tsBuildInfoFile: null,
      target: "es2024",
      declaration: true,
      rewriteRelativeImportExtensions: true,
      allowImportingTsExtensions: false,
      rootDir: join(REPOSITORY, "packages"),
      outDir: out,
      typeRoots: [join(REPOSITORY, "node_modules/@types")],
    },
    include: packages.map((name) => join(REPOSITORY, "packages", name, "src")),
    exclude: ["**/*.test.ts"].map((pattern) => join(REPOSITORY, "packages", pattern)),
  };
  const file = join(out, "tsconfig.json");
  writeFileSync(file, JSON.stringify(config));
  const tsc = spawnSync(join(REPOSITORY, "node_modules/.bin/tsc"), ["-p", file], { encoding: "utf8" });
  if (tsc.status !== 0) throw new Error(`the packages do not compile:\n${tsc.stdout}${tsc.stderr}`);
}
