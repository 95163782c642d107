import { feed } from "../../processes/feed.ts";
import { stopIfAborted } from "../../errors/run-error.ts";
import { type ForeignMetadata, type Restored, RestoreRefused } from "../engine.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { textsOf } from "../foreign-texts.ts";
import { withClient } from "./client.ts";
import { ArchiveDigests } from "./content/archive-digests.ts";
import { DeclaredCollections } from "./content/declared-collections.ts";
import { databasesOf } from "./describe.ts";
import { refusalOf } from "./refusal.ts";
import { RestoredMongodb } from "./restored.ts";
import type { ScratchMongodb } from "./scratch-mongodb.ts";

interface ToRestore {
  readonly mongorestore: string;
  /** The scratch server's. */
  readonly version: string;
  readonly metadata: ForeignMetadata;
  readonly content: AsyncIterable<Buffer>;
  readonly context: RunContext;
}

/**
 * Loads an archive into an empty scratch server. From then on the server belongs to the returned
 * copy; after an error it is closed.
 * @throws RestoreRefused, RunError, and any error from the content.
 */
export async function restoreInto(
  server: ScratchMongodb,
  { mongorestore, version, metadata, content, context }: ToRestore,
): Promise<Restored> {
  const { signal, contentKey, readsDump } = context;
  const declared = new DeclaredCollections();
  const digests =
    readsDump === true && contentKey !== undefined
      ? new ArchiveDigests(contentKey, (document) => declared.add(document))
      : null;
  try {
    const dump = digests === null ? content : digested(content, digests);
    await load(server, mongorestore, dump, signal);
    const databases = await withClient(
      server.uri,
      { what: "the scratch server broke", signal },
      ({ client }) => databasesOf(client),
    );
    const missing = textsOf(metadata["databases"], 64).filter((name) => !databases.includes(name));
    if (missing.length > 0)
      throw new RestoreRefused(`the dump has no database ${missing.join(", ").slice(0, 200)}`);
    const read = digests?.end() ?? null;
    // Of an archive that is not understood, nothing is.
    const held = { content: read, objects: read === null ? null : declared.end() };
    return new RestoredMongodb(server, version, databases, digests === null ? null : held);
  } catch (error) {
    await server.close();
    stopIfAborted(signal);
    throw error;
  }
}

async function* digested(
  content: AsyncIterable<Buffer>,
  digests: ArchiveDigests,
): AsyncGenerator<Buffer, void, undefined> {
  for await (const piece of content) {
    digests.add(piece);
    yield piece;
  }
}

async function load(
  server: ScratchMongodb,
  command: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const child = await server.start({
    command,
    args: [
      `--uri=${server.uriInside}`,
      "--archive",
      "--objcheck",
      "--stopOnError",
      // A source may have documents from before its validator, or only warns of them.
      "--bypassDocumentValidation",
      // Users, roles and settings of the whole server. The dump contains them, but this server
      // needs none of them.
      "--nsExclude=admin.*",
      "--nsExclude=config.*",
    ],
    signal,
  });
  child.stdout.resume();
  let end = "";
  child.stderr.on("data", (text: string) => {
    end = (end + text).slice(-8192);
  });
  try {
    await feed(child.stdin, content);
  } catch (error) {
    await child.stop();
    throw error;
  }
  const exit = await child.exited;
  stopIfAborted(signal);
  const [, failed] = /([0-9]+) document\(s\) failed to restore\.\s*$/.exec(end) ?? [];
  if (exit.code !== 0 || failed !== "0") throw refusalOf(exit, end, server.hasDied());
}
