import { chmodSync, copyFileSync, existsSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";
import type { Architecture } from "./release.ts";

export interface Program {
  /** Its name in stacks. */
  readonly name: string;
  readonly code: string;
  readonly architecture: Architecture;
  /** Node's executable. */
  readonly node: string;
  /** Options of Node besides those that all programs have. */
  readonly options?: readonly string[];
}

const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
const POSTJECT = createRequire(import.meta.url).resolve("postject/dist/cli.js");
const STRIP: Record<Architecture, string> = {
  amd64: "x86_64-linux-gnu-strip",
  arm64: "aarch64-linux-gnu-strip",
};

/** Writes a Node executable with the program in it. The same program gives the same bytes. */
export function makeExecutable(program: Program, target: string, scratch: string): void {
  const blob = join(scratch, `${program.name}.blob`);
  makeBlob(program, blob, scratch);
  const filled = join(scratch, `${program.name}.filled`);
  copyFileSync(strippedNode(program, scratch), filled);
  // Its own process, since it warns about things of no consequence.
  runProgram(process.execPath, [POSTJECT, filled, "NODE_SEA_BLOB", blob, "--sentinel-fuse", FUSE]);
  renameSync(filled, target);
}

/** Before a program is put in: afterwards it would be stripped too. Once for all programs. */
function strippedNode({ architecture, node }: Program, scratch: string): string {
  const stripped = join(scratch, `node-${architecture}.stripped`);
  if (!existsSync(stripped)) {
    copyFileSync(node, stripped);
    chmodSync(stripped, 0o755);
    runProgram(STRIP[architecture], ["--strip-all", stripped]);
  }
  return stripped;
}

function makeBlob({ name, code, options = [] }: Program, blob: string, scratch: string): void {
  // Relative, since the blob holds the name of its main file.
  const main = `${name}.cjs`;
  writeFileSync(join(scratch, main), code);
  const config = `${name}.sea.json`;
  const settings = {
    main,
    output: blob,
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: false,
    // A unit with MemoryDenyWriteExecute= kills a V8 that compiles to machine code. It must not be
    // switched back on.
    execArgv: ["--jitless", ...options],
    execArgvExtension: "none",
  };
  writeFileSync(join(scratch, config), JSON.stringify(settings));
  runProgram(process.execPath, ["--experimental-sea-config", config], { cwd: scratch });
}
