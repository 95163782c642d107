import { createHash, randomBytes } from "node:crypto";
import { open, opendir, readdir, rm, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { dirname, join } from "node:path";
import { errorCode } from "../errors/errno.ts";
import { makeDirectory, syncDirectory } from "../files/durable-write.ts";
import { DiskRoom } from "./disk-room.ts";
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
import { signPermission } from "./signed-url.ts";

export interface DiskStoreOptions {
  /** `objects/` of the data directory; the store is its only writer. */
  directory: string;
  /** What the signed URLs begin with, such as https://attestore.example.org:8443. */
  publicUrl: string;
  hmacKey: Uint8Array;
  /** Room that uploads leave on the disk, 256 MiB unless told: the embedded database stops where it cannot write its log. */
  reservedBytes?: number;
}

/** Uploads under way; in the same file system, so that the last step is one rename. */
const INCOMING = ".incoming";
/** More than are ever between their upload and their registration. */
const REMEMBERED_DIGESTS = 10_000;

/** Objects as plain files named by their keys, which `age` reads with this service gone. */
export class DiskStore implements ObjectStore {
  readonly singlePutLimitBytes = Number.POSITIVE_INFINITY;
  readonly multipart = null;
  readonly hmacKey: Uint8Array;
  readonly #directory: string;
  readonly #publicUrl: string;
  readonly #room: DiskRoom;
  /**
   * Digests of objects received since the start, oldest first. What is not in it is hashed again when asked for, so nothing
   * about it needs to survive a crash.
   */
  readonly #verified = new Map<string, StoredObject>();
  /** The last steps of uploads run one after the other: a digest remembered is that of the file under the name. */
  #finishing: Promise<unknown> = Promise.resolve();

  constructor({ directory, publicUrl, hmacKey, reservedBytes = 256 * 1024 * 1024 }: DiskStoreOptions) {
    this.#directory = directory;
    this.#publicUrl = publicUrl.replace(/\/+$/, "");
    this.hmacKey = hmacKey;
    this.#room = new DiskRoom(directory, reservedBytes);
  }

  /** Makes the directories and removes the uploads that a crash cut off. Before any request, by the owner of the data directory. */
  async prepare(): Promise<void> {
    const incoming = join(this.#directory, INCOMING);
    await makeDirectory(incoming);
    for (const name of await readdir(incoming)) await rm(join(incoming, name), { force: true });
  }

  async presignPut({ key, sizeBytes, sha256, expiresInSeconds }: PutRequest): Promise<PresignedPut> {
    const expiresAt = after(expiresInSeconds);
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
    const expiresAt = after(expiresInSeconds);
    return {
      url: this.#url(key, signPermission({ method: "GET", key, expiresAt }, this.hmacKey)),
      expiresAt,
    };
  }

  async head(key: string): Promise<StoredObject | null> {
    const found = await orNull(stat(this.#path(key)));
    if (found === null || !found.isFile()) return null;
    const verified = this.#verified.get(key);
    return { sizeBytes: found.size, sha256: verified?.sizeBytes === found.size ? verified.sha256 : null };
  }

  async hash(key: string): Promise<{ sizeBytes: number; sha256: string } | null> {
    const file = await this.open(key);
    if (file === null) return null;
    const hash = createHash("sha256");
    let sizeBytes = 0;
    for await (const chunk of file.createReadStream({ highWaterMark: 1 << 20 }) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
    return { sizeBytes, sha256: hash.digest("hex") };
  }

  async remove(key: string): Promise<"removed"> {
    const path = this.#path(key);
    this.#verified.delete(key);
    if ((await orNull(stat(path))) === null) return "removed";
    await rm(path, { force: true });
    await syncDirectory(dirname(path));
    return "removed";
  }

  /** Files of this machine have no lock that its owner could not open. */
  async protect(key: string): Promise<void> {
    requireObjectKey(key);
  }

  async *list(prefix = ""): AsyncIterable<ListedObject> {
    for await (const key of keysIn(this.#directory, "")) {
      if (!key.startsWith(prefix)) continue;
      const found = await orNull(stat(join(this.#directory, key)));
      if (found !== null) yield { key, sizeBytes: found.size, modifiedAt: found.mtime };
    }
  }

  /** For the routes: the object's file, or null. */
  async open(key: string): Promise<FileHandle | null> {
    const file = await orNull(open(this.#path(key), "r"));
    if (file === null || (await file.stat()).isFile()) return file;
    await file.close();
    return null;
  }

  /** For the routes: see receiveObject. A repeat writes the same bytes again. */
  async receive(key: string, source: Readable, expected: ExpectedObject): Promise<void> {
    const target = this.#path(key);
    const temporary = join(this.#directory, INCOMING, randomBytes(16).toString("hex"));
    const publish = async (finish: (path: string) => Promise<void>): Promise<void> => {
      const finished = this.#finishing.then(async () => {
        this.#verified.delete(key);
        await finish(target);
        this.#remember(key, expected);
      });
      this.#finishing = finished.catch(() => undefined);
      await finished;
    };
    await receiveObject({ source, expected, temporary, room: this.#room, publish });
  }

  #remember(key: string, { sizeBytes, sha256 }: ExpectedObject): void {
    this.#verified.set(key, { sizeBytes, sha256 });
    const [oldest] = this.#verified.keys();
    if (this.#verified.size > REMEMBERED_DIGESTS && oldest !== undefined) this.#verified.delete(oldest);
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

function after(seconds: number): Date {
  return new Date((Math.floor(Date.now() / 1000) + seconds) * 1000);
}

async function* keysIn(directory: string, prefix: string): AsyncIterable<string> {
  const entries = await orNull(opendir(directory));
  if (entries === null) return;
  for await (const entry of entries) {
    if (entry.name.startsWith(".")) continue;
    if (entry.isFile()) yield prefix + entry.name;
    if (entry.isDirectory()) yield* keysIn(join(directory, entry.name), `${prefix}${entry.name}/`);
  }
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return null;
    throw error;
  }
}
