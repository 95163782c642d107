import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { open, opendir, readdir, rename, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { dirname, join } from "node:path";
import { makeDirectory, syncDirectory } from "@attestore/host/durable-files";
import { DiskDigests, versionOf, type Digest } from "./disk-digests.ts";
import { DiskFiles } from "./disk-files.ts";
import { DiskNotes } from "./disk-notes.ts";
import { DiskMultipart } from "./disk-multipart.ts";
import { DiskRoom } from "./disk-room.ts";
import { nullIfNoObject } from "./null-if-no-object.ts";
import { NewestReception } from "./newest-reception.ts";
import { requireObjectKey } from "./object-key.ts";
import type {
  ListedObject,
  ObjectStore,
  PresignedGet,
  PresignedPut,
  PutRequest,
  StoredObject,
} from "./object-store.ts";
import { receiveObject } from "./receive-object.ts";
import type { ExpectedObject } from "./receive-object.ts";
import { SingleFlight } from "./single-flight.ts";
import { LocalPlaces, type Places } from "../workers/places.ts";
import { inTurn, LocalTurns, type Turns } from "../workers/turns.ts";
import { expiryAfter, signPermission } from "./signed-url.ts";
import { UploadDirectories } from "./upload-directory.ts";

export interface DiskStoreOptions {
  /** `objects/` of the data directory; only this store writes to it. */
  directory: string;
  /** The beginning of signed URLs, such as https://attestore.example.org:8443. */
  publicUrl: string;
  hmacKey: Uint8Array;
  /**
   * Room that uploads leave on the disk, 256 MiB by default: the embedded database stops if it
   * can't write its log.
   */
  reservedBytes?: number;
  /** 5 GiB by default. */
  singlePutLimitBytes?: number | undefined;
  /** Size of a part above that, 512 MiB by default. */
  partBytes?: number | undefined;
  /** Shared with the other processes that use the directory; by default there is none. */
  turns?: Turns | undefined;
  places?: Places | undefined;
}

/** Running uploads; in the same file system, so that the last step is one rename. */
const INCOMING = ".incoming";
/** More than the precision of file times on any file system. */
const CLOCK_TICK_MS = 50;
/** Unfinished multipart uploads. */
const MULTIPART = ".multipart";
/** The service's notes about the objects, and its files. */
const NOTES = ".attestore";

/** Objects as plain files named by their keys, which `age` can read without this service. */
export class DiskStore implements ObjectStore {
  readonly singlePutLimitBytes: number;
  readonly multipart: DiskMultipart;
  readonly notes: DiskNotes;
  readonly files: DiskFiles;
  readonly hmacKey: Uint8Array;
  readonly places: Places;
  readonly #turns: Turns;
  readonly #directory: string;
  readonly #publicUrl: string;
  readonly #room: DiskRoom;
  readonly #uploads: UploadDirectories;
  readonly #receptions: NewestReception;
  readonly #digests = new DiskDigests();
  readonly #reading = new SingleFlight<Digest | null>();

  constructor({
    directory,
    publicUrl,
    hmacKey,
    reservedBytes = 256 * 1024 ** 2,
    singlePutLimitBytes = 5 * 1024 ** 3,
    partBytes = 512 * 1024 ** 2,
    turns = new LocalTurns(),
    places = new LocalPlaces(),
  }: DiskStoreOptions) {
    this.places = places;
    this.#turns = turns;
    this.#receptions = new NewestReception(turns);
    this.#directory = directory;
    this.#publicUrl = publicUrl.replace(/\/+$/, "");
    this.hmacKey = hmacKey;
    this.#room = new DiskRoom(directory, reservedBytes, places);
    this.singlePutLimitBytes = singlePutLimitBytes;
    this.notes = new DiskNotes(join(directory, NOTES));
    this.files = new DiskFiles(join(directory, NOTES));
    this.#uploads = new UploadDirectories(join(directory, MULTIPART));
    this.multipart = new DiskMultipart({
      uploads: this.#uploads,
      partBytes,
      room: this.#room,
      turns,
      sign: (permission) => this.#url(permission.key, signPermission(permission, hmacKey)),
      publish: (key, file) => publishObject(file, this.#path(key)),
      exists: async (key) => (await this.head(key)) !== null,
    });
  }

  /**
   * Creates the directories and removes uploads that a crash cut off. Called before any request, by
   * the owner of the data directory.
   */
  async prepare(): Promise<void> {
    const incoming = join(this.#directory, INCOMING);
    await makeDirectory(incoming);
    for (const name of await readdir(incoming)) await rm(join(incoming, name), { force: true });
    await this.#uploads.prepare();
  }

  async presignPut({ key, sizeBytes, sha256, expiresInSeconds }: PutRequest): Promise<PresignedPut> {
    const expiresAt = expiryAfter(expiresInSeconds);
    const url = this.#url(
      key,
      signPermission({ method: "PUT", key, sizeBytes, sha256, expiresAt }, this.hmacKey),
    );
    return { url, method: "PUT", headers: { "content-length": String(sizeBytes) }, expiresAt };
  }

  async presignGet({
    key,
    expiresInSeconds,
  }: {
    key: string;
    expiresInSeconds: number;
  }): Promise<PresignedGet> {
    const expiresAt = expiryAfter(expiresInSeconds);
    return {
      url: this.#url(key, signPermission({ method: "GET", key, expiresAt }, this.hmacKey)),
      expiresAt,
    };
  }

  async head(key: string): Promise<StoredObject | null> {
    const found = await nullIfNoObject(stat(this.#path(key), { bigint: true }));
    if (found === null || !found.isFile()) return null;
    return { sizeBytes: Number(found.size), sha256: this.#digests.sha256Of(key, found) };
  }

  hash(key: string): Promise<Digest | null> {
    return this.#reading.do(key, () => this.#read(key));
  }

  async #read(key: string): Promise<Digest | null> {
    const file = await this.open(key);
    if (file === null) return null;
    try {
      const before = await file.stat({ bigint: true });
      const isSettled = Math.abs(Date.now() - Number(before.mtimeMs)) > CLOCK_TICK_MS;
      const hash = createHash("sha256");
      let sizeBytes = 0;
      const chunks = file.createReadStream({ highWaterMark: 1 << 20, autoClose: false });
      for await (const chunk of chunks as AsyncIterable<Buffer>) {
        hash.update(chunk);
        sizeBytes += chunk.length;
      }
      const digest = { sizeBytes, sha256: hash.digest("hex") };
      // If a file was written to meanwhile, or its time cannot show that it was not, nobody knows
      // which bytes were read.
      const after = await file.stat({ bigint: true });
      if (isSettled && versionOf(before) === versionOf(after)) this.#digests.remember(key, after, digest);
      return digest;
    } finally {
      await file.close();
    }
  }

  async remove(key: string): Promise<"removed"> {
    const path = this.#path(key);
    this.#digests.forget(key);
    if ((await nullIfNoObject(stat(path))) === null) return "removed";
    await rm(path, { force: true });
    await syncDirectory(dirname(path));
    return "removed";
  }

  /** Files on this machine have no lock that their owner could not remove. */
  async protect(key: string): Promise<void> {
    requireObjectKey(key);
  }

  async *list(prefix = ""): AsyncIterable<ListedObject> {
    for await (const key of keysIn(this.#directory, "")) {
      if (!key.startsWith(prefix)) continue;
      const found = await nullIfNoObject(stat(join(this.#directory, key)));
      if (found !== null) yield { key, sizeBytes: found.size, modifiedAt: found.mtime };
    }
  }

  /** For the routes: the object's file, or null. */
  async open(key: string): Promise<FileHandle | null> {
    const file = await nullIfNoObject(open(this.#path(key), "r"));
    if (file === null || (await file.stat()).isFile()) return file;
    await file.close();
    return null;
  }

  /** For the routes: see receiveObject. A repeat writes the same bytes again. */
  async receive(key: string, source: Readable, expected: ExpectedObject): Promise<void> {
    const target = this.#path(key);
    const temporary = join(this.#directory, INCOMING, `${process.pid}-${randomBytes(16).toString("hex")}`);
    // One after the other, so a remembered digest belongs to the file with that name.
    const publish = (): Promise<void> =>
      inTurn(this.#turns, "finishing uploads", async () => {
        await publishObject(temporary, target);
        this.#digests.remember(key, await stat(target, { bigint: true }), expected);
      });
    await this.#receptions.run(key, source, () =>
      receiveObject({ source, expected, temporary, room: this.#room, publish }),
    );
  }

  #url(key: string, query: string): string {
    requireObjectKey(key);
    return `${this.#publicUrl}/objects/${key}?${query}`;
  }

  #path(key: string): string {
    requireObjectKey(key);
    return join(this.#directory, key);
  }
}

/** Removes the uploads that a process of the service was receiving when it ended. */
export function removeUploadsOf(pid: number | undefined, directory: string): void {
  const incoming = join(directory, INCOMING);
  if (pid === undefined || !existsSync(incoming)) return;
  for (const name of readdirSync(incoming))
    if (name.startsWith(`${pid}-`)) rmSync(join(incoming, name), { force: true });
}

/** Gives a file that is safely on the disk its name, for good. */
async function publishObject(file: string, target: string): Promise<void> {
  await makeDirectory(dirname(target));
  await rename(file, target);
  await syncDirectory(dirname(target));
}

async function* keysIn(directory: string, prefix: string): AsyncIterable<string> {
  const entries = await nullIfNoObject(opendir(directory));
  if (entries === null) return;
  for await (const entry of entries) {
    if (entry.name.startsWith(".")) continue;
    if (entry.isFile()) yield prefix + entry.name;
    if (entry.isDirectory()) yield* keysIn(join(directory, entry.name), `${prefix}${entry.name}/`);
  }
}
