import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckOutcome } from "@attestore/proof";
import type { SourceConfigOf } from "../../src/config/source-config.ts";
import type { ForeignMetadata, Restored, SourceMetadata } from "../../src/engines/engine.ts";
import { inPieces } from "../pieces.ts";
import { files } from "../../src/engines/files/index.ts";

/** Where one test's trees lie; removed at its end. */
export function makePlace(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "attestore-files-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function sourceOf(path: string): SourceConfigOf<"files"> {
  return { slug: "tree", engine: "files", path, sandbox: "process", checks: [], checkTimeout_s: 60 };
}

export interface Dumped {
  readonly archive: Buffer;
  readonly metadata: SourceMetadata;
}

export async function dumpTree(
  path: string,
  { signal = new AbortController().signal, onPiece, contentKey }: DumpOptions = {},
): Promise<Dumped> {
  const dump = await files.dump(sourceOf(path), {
    scratchDir: tmpdir(),
    signal,
    ...(contentKey === undefined ? {} : { contentKey }),
  });
  try {
    const pieces: Buffer[] = [];
    for await (const piece of dump.content) {
      pieces.push(Buffer.from(piece));
      onPiece?.();
    }
    return { archive: Buffer.concat(pieces), metadata: await dump.metadata() };
  } finally {
    await dump.close();
  }
}

export interface DumpOptions {
  readonly signal?: AbortSignal;
  readonly onPiece?: () => void;
  readonly contentKey?: Buffer;
}

export async function restoreTree<Result>(
  archive: Buffer,
  scratchDir: string,
  use: (restored: Restored, tree: string) => Promise<Result>,
  signal = new AbortController().signal,
  metadata: ForeignMetadata = {},
): Promise<Result> {
  const sandbox = await files.findSandbox(metadata, sourceOf(scratchDir));
  const restored = await sandbox.restore(inPieces(archive), { scratchDir, signal });
  try {
    const [scratch = ""] = readdirSync(scratchDir).filter((name) => name.startsWith("attestore-"));
    return await use(restored, join(scratchDir, scratch, "data", "tree"));
  } finally {
    await restored.close();
  }
}

export async function inferred(restored: Restored, metadata: SourceMetadata): Promise<string[]> {
  const checks = await restored.inferredChecks({
    metadata,
    seen: null,
    signal: new AbortController().signal,
  });
  return checks.map(({ id, result }: CheckOutcome) => `${id} ${result}`);
}

export const ALL_PASSED = ["inferred:manifest passed", "inferred:files passed"];
