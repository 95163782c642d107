import { createHash } from "node:crypto";
import { basename } from "node:path";
import { readFilePieces } from "../../pipeline/file-pieces.ts";
import { systemCode } from "../../root/system-code.ts";
import { CouldNotRun, stopIfAborted } from "../../runs/could-not-run.ts";
import { type Dump, RestoreRefused, type RunContext, type SourceMetadata, type SourceOf } from "../engine.ts";
import { type LookedInside, lookInside } from "../foreign/look-inside.ts";
import { formatHash, formatReference } from "../foreign/reference.ts";
import { newestDump } from "./newest-dump.ts";
import { type FoundDump, openPlace } from "./place.ts";
import type { DumpsSettings } from "./settings.ts";

interface Pinned {
  readonly found: FoundDump;
  readonly inside: LookedInside;
  readonly sha256: string;
}

/** Names the newest dump and pins its bytes, all of which are read. The dump itself stays where it lies. */
export async function dumpDumps(source: SourceOf<DumpsSettings>, context: RunContext): Promise<Dump> {
  const { found, inside, sha256 } = await pinned(source, context);
  const content = formatReference({ v: 1, kind: "file", path: found.path, size_bytes: found.size, sha256 });
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
      size_bytes: found.size,
      modified_at: new Date(found.modified_ms).toISOString(),
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

async function pinned(source: SourceOf<DumpsSettings>, context: RunContext): Promise<Pinned> {
  const { signal } = context;
  const place = await openPlace(source);
  try {
    const found = await newestDump(place, source, signal);
    const local = await place.fetch(found, context);
    try {
      const inside = await lookedInside(local.path);
      const sha256 = await digestOf(local.path, signal);
      if ((await place.stateOf(found.path, signal)) === found.state) return { found, inside, sha256 };
    } finally {
      await local.remove();
    }
    throw new CouldNotRun(
      "source_changed",
      `${place.where}/${found.path} was written to while it was read: raise min_age_s, or have dumps written under another name and renamed`,
    );
  } finally {
    place.close();
  }
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
