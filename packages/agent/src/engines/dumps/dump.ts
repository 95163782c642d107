import { createHash } from "node:crypto";
import { basename } from "node:path";
import { errorCode } from "@attestore/host/errno";
import { readFilePieces } from "../../crypto/file-pieces.ts";
import { DEFAULT_LIMITS } from "../../config/source-limits.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { atMost, beyondLimit } from "../enforce-limits.ts";
import { type Dump, type Origin, RestoreRefused, type SourceMetadata, type SourceOf } from "../engine.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { type LookedInside, lookInside } from "../foreign/look-inside.ts";
import { originOfPath } from "../origin.ts";
import { formatHash, formatReference } from "../foreign/reference.ts";
import { newestDump } from "./newest-dump.ts";
import { type FoundDump } from "./place.ts";
import { openPlace } from "./open-place.ts";
import { whatToDo } from "../unreadable-source.ts";
import type { DumpsSettings } from "../../config/engines/dumps.ts";

async function originOfPlace(place: DumpsSettings["place"]): Promise<Origin> {
  if (place.kind === "directory") return originOfPath(place.path);
  const { bucket, prefix, endpoint } = place.s3;
  return {
    identity: { bucket, prefix, endpoint: endpoint?.host ?? "amazonaws.com" },
    host: endpoint?.host ?? null,
  };
}

interface Pinned {
  readonly found: FoundDump;
  readonly inside: LookedInside;
  readonly sha256: string;
  /** Null if it does not decompress to its end. */
  readonly plaintextBytes: number | null;
}

/**
 * Names the newest dump and pins its bytes by reading all of them. The dump itself stays where it
 * is.
 */
export async function dumpDumps(source: SourceOf<DumpsSettings>, context: RunContext): Promise<Dump> {
  const { found, inside, sha256, plaintextBytes } = await pinned(source, context);
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
      ...(plaintextBytes === null ? {} : { plaintext_size_bytes: plaintextBytes }),
      modified_at: new Date(found.modified_ms).toISOString(),
      format,
      compression,
      server_version: serverVersion,
    },
  };
  return {
    origin: await originOfPlace(source.place),
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
      const name = `${place.where}/${found.path}`;
      const { inside, plaintextBytes } = await lookedInside(local.path, name, context);
      const sha256 = await digestOf(local.path, name, signal);
      if ((await place.stateOf(found.path, signal)) === found.state)
        return { found, inside, sha256, plaintextBytes };
    } finally {
      await local.remove();
    }
    throw new RunError(
      "source_changed",
      `${place.where}/${found.path} changed while it was read: raise min_age_s, or write dumps under another name and rename them when complete`,
    );
  } finally {
    place.close();
  }
}

/**
 * Reads the whole dump, so that the receipt can say how long it is when decompressed. A restore
 * takes no more than that.
 */
async function lookedInside(
  path: string,
  name: string,
  { signal, limits = DEFAULT_LIMITS }: RunContext,
): Promise<Pick<Pinned, "inside" | "plaintextBytes">> {
  let inside: LookedInside;
  try {
    inside = await lookInside(readFilePieces(path));
  } catch (error) {
    if (error instanceof RestoreRefused) throw new RunError("dump_failed", `${name}: ${error.message}`);
    throw unreadable(name, error);
  }
  const tooLong = (): Error =>
    beyondLimit(`the dump ${name} decompresses to more than ${limits.bytes} bytes`, "limits.bytes");
  let bytes = 0;
  try {
    for await (const piece of atMost(inside.content, limits.bytes, tooLong)) {
      stopIfAborted(signal);
      bytes += piece.length;
    }
    return { inside, plaintextBytes: bytes };
  } catch (error) {
    // A restore test reports it.
    if (error instanceof RestoreRefused) return { inside, plaintextBytes: null };
    throw error instanceof RunError ? error : unreadable(name, error);
  } finally {
    await inside.close();
  }
}

async function digestOf(path: string, name: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const piece of readFilePieces(path)) {
      stopIfAborted(signal);
      hash.update(piece);
    }
  } catch (error) {
    throw error instanceof RunError ? error : unreadable(name, error);
  }
  return hash.digest("hex");
}

function unreadable(name: string, error: unknown): unknown {
  const code = errorCode(error);
  if (code === null) return error;
  const message = `the dump ${name} cannot be read (${code}): ${whatToDo(code)}`;
  return new RunError("source_missing", message, { cause: error });
}
