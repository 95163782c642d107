import { unreadableFiles } from "../../engines/files/dump/unreadable-files.ts";
import { dumpSource } from "../../engines/index.ts";
import type { SourceMetadata } from "../../engines/engine.ts";
import type { SourceConfig } from "../../config/source-config.ts";

export interface Probed {
  /** The source's own description; null if that takes a whole backup. */
  readonly metadata: SourceMetadata | null;
  /** Parts of the configuration that were not tried. */
  readonly untried: string | null;
}

/** In a large tree, as many files as it can look at in this time. */
const LOOKING_MS = 5_000;

/** Engines that can describe themselves before their dump has ended. */
const DESCRIBES_EARLY: ReadonlySet<string> = new Set(["postgresql", "mariadb", "mysql", "sqlite"]);

/**
 * Begins a backup and stops it at its first byte. By then the engine has connected, and its dump
 * program has everything that it needs from each table (pg_dump locks them all first). So a missing
 * permission shows now and not at night.
 * @throws RunError
 */
export async function probeSource(
  source: SourceConfig,
  { scratchDir, signal }: { readonly scratchDir: string; readonly signal: AbortSignal },
): Promise<Probed> {
  const { tried, untried } = firstPart(source);
  const dump = await dumpSource(tried, { scratchDir, signal });
  const content = dump.content[Symbol.asyncIterator]();
  try {
    const first = await content.next();
    const unreadable =
      tried.engine === "files" ? await unreadableFiles(tried.path, signal, LOOKING_MS) : null;
    if (unreadable !== null) throw unreadable;
    const describes = first.done === true || DESCRIBES_EARLY.has(tried.engine);
    return { metadata: describes ? await dump.metadata() : null, untried };
  } finally {
    // Otherwise the file that it reads stays open.
    await content.return?.();
    await dump.close();
  }
}

/**
 * A dump of several PostgreSQL databases makes each one completely before the next. This tries only
 * the connection's own.
 */
function firstPart(source: SourceConfig): { tried: SourceConfig; untried: string | null } {
  if (source.engine !== "postgresql") return { tried: source, untried: null };
  const { databases, globals, jobs } = source;
  if (databases === null && !globals && jobs === 1) return { tried: source, untried: null };
  const left = [databases === null ? null : "the other databases", globals ? "the globals" : null];
  const named = left.filter((each) => each !== null).join(" and ");
  return {
    tried: { ...source, databases: null, globals: false, jobs: 1 },
    untried: named === "" ? null : named,
  };
}
