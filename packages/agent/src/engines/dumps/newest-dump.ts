import type { Stats } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../../root/system-code.ts";
import { CouldNotRun } from "../../runs/could-not-run.ts";
import { globPattern } from "./glob.ts";
import type { DumpsSettings } from "./settings.ts";

export interface FoundDump {
  /** Below the source's directory. */
  readonly path: string;
  readonly stats: Stats;
}

/**
 * The newest file that matches and has not been written to for a while.
 * @throws CouldNotRun `source_missing` if there is none, or if it is older than it may be; `source_changed` if the only ones are
 * still being written.
 */
export async function newestDump(
  { path: directory, pattern, min_age_s, max_age_s, min_bytes }: DumpsSettings,
  now = Date.now(),
): Promise<FoundDump> {
  const found = await matching(directory, globPattern(pattern) ?? []);
  const large = found.filter(({ stats }) => stats.size >= min_bytes);
  const settled = large.filter(({ stats }) => now - stats.mtimeMs >= min_age_s * 1000);
  const newest = settled.toSorted(
    (a, b) => b.stats.mtimeMs - a.stats.mtimeMs || (a.path < b.path ? 1 : -1),
  )[0];
  const what = `${directory}/${pattern}`;
  if (newest === undefined) {
    const why =
      found.length === 0
        ? `no file matches ${what}`
        : large.length === 0
          ? `every file that matches ${what} is smaller than ${min_bytes} bytes`
          : `every file that matches ${what} was written to in the last ${min_age_s} s, and may not be whole`;
    throw new CouldNotRun(large.length > 0 ? "source_changed" : "source_missing", why);
  }
  const age_s = Math.round((now - newest.stats.mtimeMs) / 1000);
  if (max_age_s === null || age_s <= max_age_s) return newest;
  throw new CouldNotRun(
    "source_missing",
    `the newest dump, ${newest.path}, is ${age_s} s old, and may be ${max_age_s} s: see why nothing writes new ones`,
  );
}

async function matching(directory: string, parts: readonly RegExp[]): Promise<FoundDump[]> {
  let level = [""];
  for (const [depth, part] of parts.entries()) {
    const next: string[] = [];
    for (const at of level) {
      for (const name of await namesIn(join(directory, at), depth === 0))
        if (part.test(name)) next.push(at === "" ? name : `${at}/${name}`);
    }
    level = next;
  }
  const found: FoundDump[] = [];
  for (const path of level) {
    // One that is gone again was rotated away meanwhile.
    const stats = await stat(join(directory, path)).catch(() => null);
    if (stats?.isFile() === true) found.push({ path, stats });
  }
  return found;
}

async function namesIn(directory: string, isTop: boolean): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (!isTop) return [];
    throw new CouldNotRun(
      "source_missing",
      `the directory ${directory} cannot be read (${systemCode(error)})`,
      {
        cause: error,
      },
    );
  }
}
