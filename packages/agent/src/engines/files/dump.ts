import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { type Child, endedWith, startChild } from "../../processes/child.ts";
import type { FilesSourceConfig } from "../../root/source-config.ts";
import { CouldNotRun, stopIfAborted, systemCode } from "../../runs/could-not-run.ts";
import type { Dump, RunContext, SourceMetadata } from "../engine.ts";
import { type Manifest, readManifest, treeIdentity } from "./manifest.ts";
import { CREATE, tarVersion } from "./tar.ts";

const DUMP_FORMAT = "tar-posix";
/** Files have no schema. The contract wants a hash, so it is that of the form in which they are kept. */
const SCHEMA_HASH = createHash("sha256")
  .update(JSON.stringify([DUMP_FORMAT, "manifest", 1]))
  .digest("hex");

/**
 * A directory as a tar, and the digest of everything in it. Both read the tree, one after the other; that it did not change
 * from before the first to after the second is checked, so the manifest is of what is in the archive.
 */
export async function dumpFiles(source: FilesSourceConfig, { signal }: RunContext): Promise<Dump> {
  await requireDirectory(source.path);
  const engine_version = await tarVersion();
  const manifest = await manifestOf(source.path, signal);
  const child = await startChild({
    command: "tar",
    args: [...CREATE, `--directory=${source.path}`, "."],
    signal,
  });
  child.stdin.end();
  const metadata: SourceMetadata = {
    engine: "files",
    engine_version,
    dump_format: DUMP_FORMAT,
    schema_hash: SCHEMA_HASH,
    manifest_sha256: manifest.sha256,
    files: manifest.files,
    directories: manifest.directories,
    bytes: manifest.bytes,
  };
  return {
    content: contentOf(child, source.path, manifest, signal),
    expectedBytes: manifest.bytes,
    metadata: () => Promise.resolve(metadata),
    close: async () => {
      await child.stop();
    },
  };
}

async function* contentOf(
  child: Child,
  root: string,
  manifest: Manifest,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of child.stdout as AsyncIterable<Buffer>) yield piece;
  const exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code !== 0) {
    const line =
      exit.stderr.split("\n").find((each) => each.startsWith("tar: ") && !each.includes("socket ignored")) ??
      "";
    const changed = /file changed as we read it|File removed before we read it/.test(exit.stderr);
    throw new CouldNotRun(
      changed ? "source_changed" : "dump_failed",
      `tar ended with ${endedWith(exit)}: ${line.slice(0, 300)}`,
    );
  }
  let identity: string;
  try {
    identity = await treeIdentity(root, signal);
  } catch (error) {
    throw changing(root, signal, error);
  }
  if (identity !== manifest.identity) throw changing(root, signal);
}

async function manifestOf(root: string, signal: AbortSignal): Promise<Manifest> {
  try {
    return await readManifest(root, signal);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") throw changing(root, signal, error);
    stopIfAborted(signal);
    throw new CouldNotRun(
      "dump_failed",
      `${root} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

function changing(root: string, signal: AbortSignal, cause?: unknown): CouldNotRun {
  stopIfAborted(signal);
  return new CouldNotRun(
    "source_changed",
    `${root} changed while it was read: back up a snapshot of it, or at a time when nothing writes there`,
    { cause },
  );
}

async function requireDirectory(path: string): Promise<void> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return;
  } catch (error) {
    throw new CouldNotRun("source_missing", `${path} cannot be opened (${systemCode(error)})`, {
      cause: error,
    });
  }
  throw new CouldNotRun("source_missing", `${path} is not a directory`);
}
