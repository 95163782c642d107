import { stat } from "node:fs/promises";
import { errorCode } from "@attestore/host/errno";
import { type Child, type Exit, startChild } from "../../../processes/child.ts";
import { releasing } from "../../../processes/coalesce.ts";
import { DEFAULT_LIMITS } from "../../../config/source-limits.ts";
import { RunError, stopIfAborted } from "../../../errors/run-error.ts";
import type { Dump, SourceMetadata, SourceOf } from "../../engine.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import { originOfPath } from "../../origin.ts";
import { ArchiveManifest, type ArchiveSummary } from "./archive-manifest.ts";
import { namesChanged, namesLeftOut, tarFailed } from "./dump-failure.ts";
import { ARCHIVING, gnuTarVersion, TAR } from "../tar/gnu-tar.ts";
import { type Names, countNames } from "./count-names.ts";
import { RecentFiles } from "./recent-files.ts";
import { DUMP_FORMAT, SCHEMA_HASH } from "../schema.ts";
import { signAttributes } from "../attributes/signed-attributes.ts";
import { SourceHoles } from "./source-holes.ts";
import { MalformedArchive } from "../tar/tar-header.ts";
import { TarReader } from "../tar/tar-reader.ts";
import { unreadableFiles } from "./unreadable-files.ts";
import { unreadableSource } from "../../unreadable-source.ts";
import type { FilesSettings } from "../../../config/engines/files.ts";

/** What tar says where it archives a file without its attributes, and ends as if it had them. */
const UNREAD =
  /^tar: (?:.*: Warning: Cannot (?:acl_|[a-z]*xattr)|(?:POSIX ACL|XATTR) support is not available)/m;

/**
 * Archives a directory with GNU tar. The manifest is computed from that archive while it passes.
 */
export async function dumpFiles(
  source: SourceOf<FilesSettings>,
  { signal, limits = DEFAULT_LIMITS, contentKey }: RunContext,
): Promise<Dump> {
  const version = await gnuTarVersion(signal);
  await requireDirectory(source.path);
  const origin = await originOfPath(source.path);
  const names = await namesOf(source.path, signal);
  const args = [...ARCHIVING, `--directory=${source.path}`, "."];
  const child = await startChild({ command: TAR, args, signal, isDump: true });
  child.stdin.end();
  let manifest: Archived | null = null;
  return {
    origin,
    content: (async function* () {
      const holes = new SourceHoles(source.path, signal);
      const recent = new RecentFiles(source.path, signal);
      try {
        const archive = new ArchiveManifest(limits, signal, { holes, recent });
        const archived = yield* archiveOf(child, source.path, archive, signal);
        if ((await namesOf(source.path, signal)).digest !== names.digest) throw namesChanged(source.path);
        if (archived.files !== names.files || archived.directories !== names.directories)
          throw namesLeftOut(source.path, archived, names);
        manifest = archived;
      } finally {
        await holes.close();
        await recent.close();
      }
    })(),
    expectedBytes: null,
    metadata: () =>
      manifest === null
        ? Promise.reject(new Error("the metadata of a dump that has not ended"))
        : Promise.resolve(describe(manifest, version, { key: contentKey, names })),
    close: async () => {
      await child.stop();
    },
  };
}

function describe(
  { sha256, files, directories, bytes, attributes, hasUnreadAttributes }: Archived,
  version: string,
  { key, names }: { readonly key: Buffer | undefined; readonly names: Names },
): SourceMetadata {
  return {
    engine: "files",
    engine_version: version,
    dump_format: DUMP_FORMAT,
    schema_hash: SCHEMA_HASH,
    manifest_sha256: sha256,
    files,
    directories,
    bytes,
    ...(key === undefined
      ? {}
      : { attributes: signAttributes(attributes, key, { ...names, hasUnread: hasUnreadAttributes }) }),
  };
}

async function requireDirectory(path: string): Promise<void> {
  let isDirectory: boolean;
  try {
    isDirectory = (await stat(path)).isDirectory();
  } catch (error) {
    throw unreadableSource(`the directory ${path}`, error);
  }
  if (!isDirectory)
    throw new RunError("source_missing", `${path} is not a directory: give the directory that contains it`);
}

async function namesOf(path: string, signal: AbortSignal): Promise<Names> {
  try {
    return await countNames(path, signal);
  } catch (error) {
    stopIfAborted(signal);
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw namesChanged(path, error);
    const unreadable = code === "EACCES" ? await unreadableFiles(path, signal) : null;
    if (unreadable !== null) throw unreadable;
    throw new RunError("dump_failed", `${path} cannot be read (${code ?? "unknown error"})`, {
      cause: error,
    });
  }
}

async function failureOf(exit: Exit, path: string, signal: AbortSignal): Promise<RunError> {
  const unreadable = /: Permission denied$/m.test(exit.stderr) ? await unreadableFiles(path, signal) : null;
  return unreadable ?? tarFailed(exit, path);
}

interface Archived extends ArchiveSummary {
  readonly hasUnreadAttributes: boolean;
}

async function* archiveOf(
  child: Child,
  path: string,
  manifest: ArchiveManifest,
  signal: AbortSignal,
): AsyncGenerator<Buffer, Archived, undefined> {
  let hasUnreadAttributes: boolean;
  const reader = new TarReader(manifest);
  try {
    for await (const piece of releasing(child.stdout)) {
      await reader.push(piece);
      yield piece;
    }
    const exit = await child.exited;
    stopIfAborted(signal);
    if (exit.code !== 0) throw await failureOf(exit, path, signal);
    reader.end();
    hasUnreadAttributes = UNREAD.test(exit.stderr);
  } catch (error) {
    if (!(error instanceof MalformedArchive)) throw error;
    throw new RunError(
      "dump_failed",
      `tar made an archive of ${path} that could not be restored: ${error.message}`,
    );
  }
  return { ...manifest.finish(), hasUnreadAttributes };
}
