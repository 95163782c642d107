import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { readFilePieces } from "../../pipeline/file-pieces.ts";
import { systemCode } from "../../root/system-code.ts";
import { CouldNotRun, stopIfAborted } from "../../runs/could-not-run.ts";
import { type Dump, RestoreRefused, type RunContext, type SourceMetadata, type SourceOf } from "../engine.ts";
import { type LookedInside, lookInside } from "../foreign/look-inside.ts";
import { formatHash, formatReference } from "../foreign/reference.ts";
import { newestDump } from "./newest-dump.ts";
import type { DumpsSettings } from "./settings.ts";

/** Names the newest dump and pins its bytes, all of which are read. The dump itself stays where it lies. */
export async function dumpDumps(source: SourceOf<DumpsSettings>, { signal }: RunContext): Promise<Dump> {
  const found = await newestDump(source);
  const path = join(source.path, found.path);
  const { size, mtime } = found.stats;
  const inside = await lookedInside(path);
  const sha256 = await digestOf(path, signal);
  const after = await stat(path).catch(() => null);
  if (after?.size !== size || after.mtimeMs !== found.stats.mtimeMs || after.ino !== found.stats.ino) {
    throw new CouldNotRun(
      "source_changed",
      `${path} was written to while it was read: raise min_age_s, or have dumps written under another name and renamed`,
    );
  }
  const content = formatReference({ v: 1, kind: "file", path: found.path, size_bytes: size, sha256 });
  const { format, compression, serverVersion } = inside;
  const metadata: SourceMetadata = {
    engine: "dumps",
    engine_version: serverVersion ?? "unknown",
    dump_format: `reference:${format}`,
    schema_hash: formatHash(format),
    original: {
      kind: "file",
      name: basename(found.path),
      sha256,
      size_bytes: size,
      modified_at: mtime.toISOString(),
      format,
      compression,
      server_version: serverVersion,
    },
  };
  return {
    content: (async function* () {
      yield await Promise.resolve(content);
    })(),
    expectedBytes: content.length,
    metadata: () => Promise.resolve(metadata),
    close: () => Promise.resolve(),
  };
}

async function lookedInside(path: string): Promise<LookedInside> {
  try {
    const inside = await lookInside(readFilePieces(path));
    await inside.close();
    return inside;
  } catch (error) {
    if (error instanceof RestoreRefused) throw new CouldNotRun("dump_failed", `${path}: ${error.message}`);
    throw unreadable(path, error);
  }
}

async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const piece of readFilePieces(path)) {
      stopIfAborted(signal);
      hash.update(piece);
    }
  } catch (error) {
    throw error instanceof CouldNotRun ? error : unreadable(path, error);
  }
  return hash.digest("hex");
}

function unreadable(path: string, error: unknown): unknown {
  const code = systemCode(error);
  if (code === null) return error;
  return new CouldNotRun("source_missing", `the dump ${path} cannot be read (${code})`, { cause: error });
}
