import { type Child, endedWith, startChild } from "../../processes/child.ts";
import { releasing } from "../../processes/coalesce.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import type { Dump, Origin, SourceMetadata, SourceOf } from "../engine.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { describeTables } from "../row-counts.ts";
import { schemaHash, schemaSummary } from "../schema.ts";
import { withClient } from "./client.ts";
import { type Connection, resolveConnection, writeConfigFile } from "./connection.ts";
import { ArchiveDigests } from "./content/archive-digests.ts";
import { overflowing } from "./content/content-apart.ts";
import { type DumpedDocuments, signDocuments } from "./content/sign-documents.ts";
import { databasesOf, type Look, look, nameOf } from "./describe.ts";
import { countOf, dumpedIn, isWritten, linesOf } from "./dumped-line.ts";
import { leftOutKinds } from "./left-out.ts";
import { originOf } from "./origin.ts";
import { findTool, versionOfTool } from "./programs.ts";
import type { MongodbSettings } from "../../config/engines/mongodb.ts";

interface SourceLook extends Look {
  readonly origin: Origin;
  readonly version: string;
  readonly databases: readonly string[];
  /** Kinds of which the server has some, or may have some, that no dump has. */
  readonly leftOut: readonly string[];
}

/**
 * Runs `mongodump --archive` on the database that the connection names, or on the whole server. It
 * reads one collection after the other, so the schema is listed before and after and must not
 * change.
 */
export async function dumpMongodb(
  source: SourceOf<MongodbSettings>,
  { scratchDir, signal, contentKey }: RunContext,
): Promise<Dump> {
  const tool = await findTool("mongodump");
  const connection = await resolveConnection(source.connection);
  const before = await lookAt(connection, source.slug, signal);
  const config = await writeConfigFile(connection, scratchDir);
  try {
    const args = [`--config=${config.path}`, "--archive"];
    const child = await startChild({ command: tool, args, signal, isDump: true });
    child.stdin.end();
    const written = documentsOf(child);
    const digests = contentKey === undefined ? null : new ArchiveDigests(contentKey);
    return {
      origin: before.origin,
      content: contentOf(child, digests, signal),
      expectedBytes: null,
      metadata: async () => {
        const after = await lookAt(connection, source.slug, signal);
        const counted = await written;
        const collections = digests?.end() ?? null;
        const described = describeDump(
          before,
          after,
          { written: counted, collections },
          await versionOfTool(tool),
        );
        if (contentKey === undefined || digests === null) return described;
        const leftOut = [...new Set([...before.leftOut, ...after.leftOut])];
        const dumped = { collections, written: counted, look: before, leftOut };
        return signDocuments(described, dumped, { names: collectionsOf(before), key: contentKey });
      },
      close: async () => {
        await child.stop();
        await config.remove();
      },
    };
  } catch (error) {
    await config.remove();
    throw error;
  }
}

function lookAt(connection: Connection, slug: string, signal: AbortSignal): Promise<SourceLook> {
  return withClient(
    connection.uri,
    { what: `the source ${slug} cannot be reached`, signal },
    async ({ client, version }) => {
      const databases = connection.database === null ? await databasesOf(client) : [connection.database];
      const found = await look(client, databases);
      if (found.namespaces.length > 0)
        return {
          ...found,
          databases,
          version,
          origin: await originOf(client, connection),
          leftOut: await leftOutKinds(client, { version, database: connection.database }),
        };
      throw new RunError(
        "source_missing",
        connection.database === null
          ? "the server has no database, or the user has no access to any"
          : `the server has no database ${connection.database.slice(0, 100)}, or it is empty, or the user has no access to it`,
      );
    },
  );
}

async function documentsOf(child: Child): Promise<ReadonlyMap<string, bigint>> {
  const written = new Map<string, bigint>();
  for await (const line of linesOf(child.stderr)) {
    const dumped = dumpedIn(line);
    if (dumped !== null) written.set(dumped.name, dumped.documents);
  }
  return written;
}

async function* contentOf(
  child: Child,
  digests: ArchiveDigests | null,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of releasing(child.stdout)) {
    digests?.add(piece);
    yield piece;
  }
  const exit = await child.exited;
  stopIfAborted(signal);
  if (exit.code === 0) return;
  const line = exit.stderr.split("\n").find((each) => each.includes("Failed:")) ?? "";
  const why = line === "" ? "" : `: ${line.slice(line.indexOf("Failed:") + 8, 400)}`;
  throw new RunError("dump_failed", `mongodump ended with ${endedWith(exit)}${why}`);
}

/** By name; without views. */
function collectionsOf({ namespaces }: Look): string[] {
  return namespaces.filter(({ isView }) => !isView).map(nameOf);
}

/** In any order: a server may list indexes in another one. */
function textOf({ objects }: Look): string {
  return objects
    .map((each) => JSON.stringify(each))
    .toSorted()
    .join("\n");
}

/** @throws RunError `source_changed`, `dump_failed` */
function describeDump(
  before: SourceLook,
  after: SourceLook,
  { written, collections: contents }: Pick<DumpedDocuments, "collections" | "written">,
  tool: string,
): SourceMetadata {
  const schema = schemaHash(before.lines);
  if (textOf(before) !== textOf(after)) {
    throw new RunError(
      "source_changed",
      "collections or indexes changed during the dump, so it may match neither version: back it up again",
    );
  }
  const collections = before.namespaces.filter(({ isView }) => !isView);
  const missing = collections.filter((each) => !isWritten(each, written)).map(nameOf);
  if (missing.length > 0) {
    throw new RunError(
      "dump_failed",
      `mongodump did not dump ${missing.slice(0, 3).join(", ").slice(0, 200)}: the user may lack the right to read it`,
    );
  }
  const tooMany = new Set(overflowing(before, contents ?? []));
  return {
    engine: "mongodb",
    engine_version: before.version,
    dump_format: "mongodump-archive",
    schema_hash: schema,
    dump_version: tool,
    // Of one without collections, such as one whose collections were dropped, a dump has nothing.
    databases: before.databases.filter((name) => before.namespaces.some(({ database }) => database === name)),
    // mongodump counts each one while it writes it.
    ...describeTables(
      before.lines,
      collections
        .map((each) => (tooMany.has(each) ? { name: nameOf(each) } : countOf(each, written)))
        .toSorted((a, b) => Number((b.rows ?? 0n) - (a.rows ?? 0n))),
      { budget_s: null },
    ),
    schema_summary: schemaSummary(before.lines),
  };
}
