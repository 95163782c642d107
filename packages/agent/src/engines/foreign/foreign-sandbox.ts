import type { SourceCommon } from "../../config/source-config.ts";
import { DEFAULT_LIMITS } from "../../config/source-limits.ts";
import { atMost } from "../enforce-limits.ts";
import { RunError } from "../../errors/run-error.ts";
import { type ForeignMetadata, RestoreRefused, type Sandbox } from "../engine.ts";
import { findMariadbSandbox } from "../mariadb/sandbox/sandbox.ts";
import { findMongodbSandbox } from "../mongodb/sandbox.ts";
import { findPostgresqlSandbox } from "../postgresql/sandbox/sandbox.ts";
import { findSqliteSandbox } from "../sqlite/sandbox.ts";
import { lookInside } from "./look-inside.ts";
import { RestoredForeign } from "./restored-foreign.ts";
import type { ForeignFormat } from "./sniff.ts";
import { findTreeSandbox } from "./tree-sandbox.ts";

/** What the agent saw of a dump when it registered it. */
export interface KnownDump {
  readonly format: ForeignFormat;
  readonly serverVersion: string | null;
  /** The decompressed size; null if nobody has seen its end. */
  readonly plaintextBytes: number | null;
}

/**
 * The throw-away place for a dump that others made. It restores the dump itself, compressed or not.
 */
export async function findForeignSandbox(
  { format, serverVersion, plaintextBytes }: KnownDump,
  source: Pick<SourceCommon, "sandbox">,
): Promise<Sandbox> {
  const metadata = { engine_version: serverVersion, dump_format: format };
  const inner = await sandboxOf(format, metadata, source);
  return {
    runtime: inner.runtime,
    restore: async (content, context) => {
      const found = await lookInside(content);
      if (found.format !== format)
        throw new RestoreRefused(`the dump is ${found.format} now, but was ${format} when it was registered`);
      const most = plaintextBytes ?? (context.limits ?? DEFAULT_LIMITS).bytes;
      const tooLong = (): Error =>
        new RestoreRefused(`the dump decompresses to more than its limit of ${most} bytes`);
      const dump = atMost(found.content, most, tooLong);
      const restored = await inner.restore(dump, { ...context, readsDump: true });
      return format === "tar" ? restored : new RestoredForeign(restored);
    },
  };
}

function sandboxOf(
  format: ForeignFormat,
  metadata: ForeignMetadata,
  source: Pick<SourceCommon, "sandbox">,
): Promise<Sandbox> {
  switch (format) {
    case "pg_dump-custom":
    case "pg_dump-plain":
    case "pg_dump-tar":
      return findPostgresqlSandbox(metadata, source);
    case "mysqldump-sql":
      return findMariadbSandbox(metadata, source);
    case "mongodump-archive":
      // An archive says MongoDB's version whichever product made it, so the installed server has to
      // do.
      return findMongodbSandbox({});
    case "sqlite3-file":
      return findSqliteSandbox();
    case "tar":
      return findTreeSandbox();
  }
}

const FORMATS: ReadonlySet<string> = new Set<ForeignFormat>([
  "pg_dump-custom",
  "pg_dump-plain",
  "pg_dump-tar",
  "mysqldump-sql",
  "mongodump-archive",
  "sqlite3-file",
  "tar",
]);

/**
 * What a backup's metadata say about the dump.
 * @throws RunError if no agent writes such metadata.
 */
export function knownDump(original: Readonly<Record<string, unknown>>): KnownDump {
  const { format, server_version: version, plaintext_size_bytes: size } = original;
  const plaintextBytes = typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? size : null;
  if (typeof format === "string" && FORMATS.has(format))
    return {
      format: format as ForeignFormat,
      serverVersion: typeof version === "string" ? version : null,
      plaintextBytes,
    };
  throw new RunError(
    "sandbox_lacks",
    "the backup is a dump in a format that this agent does not know: update the agent",
  );
}
