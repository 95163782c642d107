import { createHash } from "node:crypto";
import type { Dirent } from "node:fs";
import { constants, open, readdir, realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Config } from "../../config/config.ts";

/**
 * The files and directories that can be picked below a directory that config.yaml names under
 * `remote_config_paths`.
 */
export interface AllowedDirectory {
  /** Names it for the service, which never says where a file is. */
  readonly place: string;
  readonly engine: "sqlite" | "files";
  /** Without links on the way to it. */
  readonly path: string;
  /** Paths relative to it, and the source that is backed up from there already. */
  readonly found: ReadonlyMap<string, string | null>;
}

const MOST_FOUND = 500;
/** Of entries looked at, below one directory. */
const MOST_LOOKED_AT = 20_000;
const DEEPEST = { sqlite: 6, files: 2 } as const;

/**
 * Directories, and SQLite's files, below those that config.yaml allows. Links are not followed, and
 * the agent's own root is left out: it has the keys.
 */
export async function findAllowed(config: Config, root: string): Promise<AllowedDirectory[]> {
  const found: AllowedDirectory[] = [];
  const own = await realpath(root);
  for (const path of config.remoteConfigPaths) {
    if ((await whyNothing(path, own)) !== null) continue;
    for (const engine of ["sqlite", "files"] as const) {
      const names = await look(engine, path, own);
      const taken = (name: string): string | null => {
        for (const source of config.sources.values())
          if (source.engine === engine && source.path === join(path, name)) return source.slug;
        return null;
      };
      const place = `${engine}:${createHash("sha256").update(path).digest("hex").slice(0, 16)}`;
      found.push({ place, engine, path, found: new Map(names.map((name) => [name, taken(name)])) });
    }
  }
  return found;
}

/**
 * Why nothing below a path of config.yaml is offered, and what to do; null if it may be.
 * @param own the agent's root, without links
 */
export async function whyNothing(path: string, own: string): Promise<string | null> {
  const real = await realpath(path).catch(() => null);
  if (real === null) return `${path} is not there, or this user can't see it`;
  if (isWithin(own, real)) return `${path} is in the agent's own root, which has its keys`;
  // Somebody who may write above it could put a link to another directory in its place.
  return real === path ? null : `${path} leads through a link to ${real}: name that one in config.yaml`;
}

/** Whether `inner` is `outer` or below it. */
function isWithin(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way !== ".." && !way.startsWith("../");
}

async function look(engine: "sqlite" | "files", top: string, own: string): Promise<string[]> {
  const found: string[] = [];
  let looked = 0;
  // Level by level, so that the deepest entries are the ones that are cut off.
  let level = [""];
  for (let depth = 0; depth < DEEPEST[engine] && level.length > 0; depth++) {
    const below: string[] = [];
    for (const directory of level)
      for (const entry of await entriesOf(join(top, directory))) {
        if (++looked > MOST_LOOKED_AT || found.length >= MOST_FOUND) return finished(engine, found, top, own);
        const name = join(directory, entry.name);
        if (name.length > 300 || !isPlain(name)) continue;
        const path = join(top, name);
        if (entry.isDirectory() && !isWithin(own, path)) {
          below.push(name);
          if (engine === "files" && !isWithin(path, own)) found.push(name);
        } else if (engine === "sqlite" && entry.isFile() && (await isSqlite(path))) found.push(name);
      }
    level = below;
  }
  return finished(engine, found, top, own);
}

/** The directory itself can be backed up too. */
function finished(engine: "sqlite" | "files", found: readonly string[], top: string, own: string): string[] {
  const sorted = found.toSorted();
  return engine === "files" && !isWithin(top, own) ? [".", ...sorted] : sorted;
}

async function entriesOf(directory: string): Promise<Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A name of other bytes than UTF-8's comes with U+FFFD and would name another file. */
const isPlain = (name: string): boolean => !/[\p{Cc}\uFFFD]/u.test(name) && name.isWellFormed();

const MAGIC = Buffer.from("SQLite format 3\0");

/** By its first bytes; by its name if this user may not read it, so that trying it says so. */
async function isSqlite(path: string): Promise<boolean> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
    return bytesRead === MAGIC.length && buffer.equals(MAGIC);
  } catch {
    return /\.(db|sqlite3?)$/.test(path);
  }
}
