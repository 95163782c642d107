import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { REPOSITORY } from "./release.ts";

/** An npm package, pinned. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly licence: string;
  /** SHA-512 of its archive. */
  readonly integrity: Buffer;
}

interface Lockfile {
  readonly packages: Record<string, { version: string; integrity?: string } | undefined>;
}

/**
 * What the lockfile says of an installed package. Throws where it says nothing: such a package must
 * not be shipped.
 */
export function lockedPackage(directory: string): LockedPackage {
  const lockfile = JSON.parse(readFileSync(join(REPOSITORY, "package-lock.json"), "utf8")) as Lockfile;
  const { name, version, license } = JSON.parse(
    readFileSync(join(directory, "package.json"), "utf8"),
  ) as Record<"name" | "version" | "license", string>;
  const locked = lockfile.packages[relative(REPOSITORY, directory)];
  if (locked?.version !== version || locked.integrity === undefined)
    throw new Error(`${name} ${version} is not the package that package-lock.json pins: run npm ci`);
  return { name, version, licence: license, integrity: sha512(locked.integrity) };
}

/** Of npm's `sha512-<base64>`. */
export function sha512(integrity: string): Buffer {
  const [, base64] = /^sha512-([A-Za-z0-9+/]{86}==)$/.exec(integrity) ?? [];
  if (base64 === undefined) throw new Error(`${integrity} is not a SHA-512 as npm writes it`);
  return Buffer.from(base64, "base64");
}
