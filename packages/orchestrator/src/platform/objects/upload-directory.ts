import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeDirectory, replaceFile, syncDirectory } from "@attestore/host/durable-files";
import { nullIfNoObject } from "./null-if-no-object.ts";
import { isObjectKey } from "./object-key.ts";
import type { PlannedUpload } from "./object-store.ts";

const UPLOAD_ID = /^[0-9a-f]{32}$/;
const SHA256 = /^[0-9a-f]{64}$/;
const PLAN = "plan";
const VERSION = "attestore-upload-v1";
const BYTES = "bytes";

/** A multipart upload that was begun. */
export interface Plan extends PlannedUpload {
  initiatedAt: Date;
}

/**
 * Unfinished multipart uploads, each in a directory of its own: `plan`, what it is to become;
 * `bytes`, the future object, to which every part is written at its place, so that nothing is
 * copied at the end; and `part-N` for each part that is there, with its SHA-256. A part's mark is
 * written after its bytes are safely on the disk, and removed before they are written again.
 */
export class UploadDirectories {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Removes leftovers of a crash while an upload was begun or removed. */
  async prepare(): Promise<void> {
    await makeDirectory(this.root);
    for (const name of await readdir(this.root))
      if ((await this.plan(name)) === null) await rm(join(this.root, name), { recursive: true, force: true });
  }

  /** The plan comes last: without one, the upload does not exist. */
  async create({ key, sizeBytes, partBytes }: PlannedUpload): Promise<string> {
    const uploadId = randomBytes(16).toString("hex");
    const directory = join(this.root, uploadId);
    await mkdir(directory, { mode: 0o700 });
    const bytes = await open(this.bytes(uploadId), "wx", 0o600);
    try {
      await bytes.sync();
    } finally {
      await bytes.close();
    }
    const plan = [VERSION, key, sizeBytes, partBytes, Date.now()];
    await replaceFile(join(directory, PLAN), plan.join("\n"));
    await syncDirectory(this.root);
    return uploadId;
  }

  /** Null if there is no such upload. */
  async plan(uploadId: string): Promise<Plan | null> {
    if (!UPLOAD_ID.test(uploadId)) return null;
    const text = await nullIfNoObject(readFile(join(this.root, uploadId, PLAN), "utf8"));
    if (text === null) return null;
    return readPlan(text);
  }

  /** The file that becomes the object. */
  bytes(uploadId: string): string {
    return join(this.root, uploadId, BYTES);
  }

  /** Its current length; null if it has become the object. */
  async bytesWritten(uploadId: string): Promise<number | null> {
    return (await nullIfNoObject(stat(this.bytes(uploadId))))?.size ?? null;
  }

  async mark(uploadId: string, partNumber: number, sha256: string): Promise<void> {
    await replaceFile(this.#mark(uploadId, partNumber), sha256);
  }

  /** From here on the part counts as missing, whatever happens: it may be written. */
  async unmark(uploadId: string, partNumber: number): Promise<void> {
    const mark = this.#mark(uploadId, partNumber);
    await rm(mark, { force: true });
    if ((await nullIfNoObject(stat(dirname(mark)))) !== null) await syncDirectory(dirname(mark));
  }

  /** The SHA-256 of a part; null if it is missing. */
  async marked(uploadId: string, partNumber: number): Promise<string | null> {
    const sha256 = await nullIfNoObject(readFile(this.#mark(uploadId, partNumber), "utf8"));
    return sha256 !== null && SHA256.test(sha256) ? sha256 : null;
  }

  async remove(uploadId: string): Promise<void> {
    if (!UPLOAD_ID.test(uploadId)) return;
    await rm(join(this.root, uploadId), { recursive: true, force: true });
    await syncDirectory(this.root);
  }

  list(): Promise<string[]> {
    return readdir(this.root);
  }

  #mark(uploadId: string, partNumber: number): string {
    return join(this.root, uploadId, `part-${partNumber}`);
  }
}

/** Null for any other text. */
function readPlan(text: string): Plan | null {
  const [version, key = "", ...numbers] = text.split("\n");
  const [sizeBytes = 0, partBytes = 0, initiatedAt = 0] = numbers.map(Number);
  const isPlan =
    version === VERSION &&
    isObjectKey(key) &&
    numbers.length === 3 &&
    [sizeBytes, partBytes, initiatedAt].every((number) => Number.isSafeInteger(number) && number > 0);
  return isPlan ? { key, sizeBytes, partBytes, initiatedAt: new Date(initiatedAt) } : null;
}
