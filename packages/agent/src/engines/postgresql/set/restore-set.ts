import { plural } from "@attestore/proof";
import { join } from "node:path";
import { RunError } from "../../../errors/run-error.ts";
import { type ForeignMetadata, type Restored, RestoreRefused } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { type Wanted, wantedOf } from "../restore/wanted-of-dump.ts";
import { dropWhatSourceLacks, prepareDatabase } from "../database/prepare-database.ts";
import { LOADING_ROLE } from "../database/loading-role.ts";
import { type Loaded, restoreFile, runPgRestore } from "../restore/run-pg-restore.ts";
import { RestoredPostgresql } from "../restored.ts";
import { jobsForFiles } from "../restore/several-jobs.ts";
import { RestoredSet } from "./restored-set.ts";
import { restoreGlobals } from "./restore-globals.ts";
import { databasesOfMetadata } from "./set-metadata.ts";
import { parseEntryName, type SetEntry } from "./names.ts";
import { MalformedSet, tarEntries } from "./tar.ts";

type DatabaseEntry = Exclude<SetEntry, { kind: "globals" }>;
interface Next {
  readonly entry: DatabaseEntry;
  readonly content: AsyncIterable<Buffer>;
}

/**
 * Restores a set of databases, one after the other, into one scratch server.
 * @throws RestoreRefused, RunError, and any error from the content.
 */
export async function restoreSet(
  server: ScratchServer,
  metadata: ForeignMetadata,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<Restored> {
  const expected = databasesOfMetadata(metadata);
  try {
    const reading = new SetReader(content);
    const globals = await reading.globals();
    if ((globals !== null) !== (typeof metadata["globals"] === "object" && metadata["globals"] !== null))
      throw new RestoreRefused("the server's globals differ from the backup's metadata");
    const restoredGlobals = globals === null ? null : await restoreGlobals(server, globals, signal);
    let restored = 0;
    const loaded: Loaded[] = [];
    for (; (await reading.peek()) !== null; restored++) {
      const database = expected[restored];
      if (database === undefined)
        throw new RestoreRefused("the archive has a database that the backup does not name");
      await prepareDatabase(server, scratchName(restored), database.metadata, signal);
      loaded.push(await restoreOne(server, reading, restored, wantedOf(database.metadata), signal));
      await dropWhatSourceLacks(server, scratchName(restored), database.metadata, signal);
    }
    if (restored < expected.length || restored === 0)
      throw new RestoreRefused(
        `the archive has ${plural(restored, "database")}, but the backup names ${expected.length}`,
      );
    const databases = new Map(
      expected.map(({ name }, index) => [
        name,
        new RestoredPostgresql(server, scratchName(index), name, LOADING_ROLE, loaded[index]),
      ]),
    );
    const own = databases.get(String(metadata["own_database"])) ?? databases.values().next().value;
    if (own === undefined) throw new RestoreRefused("the backup names no database");
    return new RestoredSet(server, databases, own, restoredGlobals);
  } catch (error) {
    const refusal =
      error instanceof MalformedSet
        ? new RestoreRefused(`not the archive of a backup of several databases: ${error.message}`)
        : error;
    // Read to the end: only the end tells whether the refused archive was complete.
    if (refusal instanceof RestoreRefused) for await (const _ of content);
    throw refusal;
  }
}

function scratchName(index: number): string {
  return `restored_${index + 1}`;
}

async function restoreOne(
  server: ScratchServer,
  reading: SetReader,
  database: number,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Loaded> {
  const first = await reading.peek();
  if (first?.entry.kind === "part") {
    return runPgRestore(server, scratchName(database), partsOf(reading, database), signal, { wanted });
  }
  if (server.files === null) {
    throw new RunError(
      "sandbox_failed",
      "a dump made with several jobs must be on a disk next to the server, and this sandbox has none: test it with sandbox: process",
    );
  }
  const name = `dump-${database + 1}`;
  for (let next = await reading.peek(); next?.entry.database === database; next = await reading.peek()) {
    if (next.entry.kind !== "file") throw new MalformedSet("a database is stored both in parts and in files");
    await server.files.write(join(name, next.entry.file), next.content, signal);
    reading.take();
  }
  const jobs = jobsForFiles();
  return restoreFile(
    server,
    scratchName(database),
    { format: "directory", path: join(server.files.directory, name), jobs, wanted },
    signal,
  );
}

async function* partsOf(reading: SetReader, database: number): AsyncGenerator<Buffer, void, undefined> {
  let part = 0;
  for (let next = await reading.peek(); next?.entry.database === database; next = await reading.peek()) {
    if (next.entry.kind !== "part" || next.entry.part !== part)
      throw new MalformedSet("a part of a dump is missing");
    part += 1;
    yield* next.content;
    reading.take();
  }
}

/** Reads the archive in the order of a set, and knows the next entry. */
class SetReader {
  readonly #entries: AsyncIterator<{ readonly name: string; readonly content: AsyncIterable<Buffer> }>;
  #next: Next | null = null;
  #last = -1;

  constructor(content: AsyncIterable<Buffer>) {
    this.#entries = tarEntries(content);
  }

  /** Must be called first. Null if the set has no globals. */
  async globals(): Promise<Buffer | null> {
    const first = await this.#entries.next();
    if (first.done === true) return null;
    const entry = parseEntryName(first.value.name);
    if (entry.kind !== "globals") {
      this.#view(entry, first.value.content);
      return null;
    }
    const pieces: Buffer[] = [];
    for await (const piece of first.value.content) pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces);
  }

  /** Null at the end. */
  async peek(): Promise<Next | null> {
    if (this.#next !== null) return this.#next;
    const next = await this.#entries.next();
    if (next.done === true) return null;
    const entry = parseEntryName(next.value.name);
    if (entry.kind === "globals") throw new MalformedSet("the globals are not the first entry");
    this.#view(entry, next.value.content);
    return this.#next;
  }

  take(): void {
    this.#next = null;
  }

  #view(entry: DatabaseEntry, content: AsyncIterable<Buffer>): void {
    if (entry.database !== this.#last && entry.database !== this.#last + 1)
      throw new MalformedSet("the databases are out of order");
    this.#last = entry.database;
    this.#next = { entry, content };
  }
}
