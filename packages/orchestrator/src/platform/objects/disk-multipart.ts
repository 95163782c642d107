import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { errorCode, isDiskFull } from "@attestore/host/errno";
import { notFound } from "../errors/api-error.ts";
import { type DiskRoom, noRoom } from "./disk-room.ts";
import { NewestReception } from "./newest-reception.ts";
import { requireObjectKey } from "./object-key.ts";
import type {
  CompletedPart,
  CompletionRequest,
  MultipartUploads,
  PartsRequest,
  PlannedUpload,
  PresignedParts,
  UnfinishedUpload,
} from "./object-store.ts";
import { MAX_PARTS, partSizes } from "./part-sizes.ts";
import { mismatch, receiveBytes, writeAt } from "./receive-bytes.ts";
import { inTurn, type Turns } from "../workers/turns.ts";
import { expiryAfter, type PartPermission } from "./signed-url.ts";
import type { UploadDirectories } from "./upload-directory.ts";

export interface DiskMultipartOptions {
  uploads: UploadDirectories;
  partBytes: number;
  room: DiskRoom;
  turns: Turns;
  /** The URL that permits it. */
  sign: (permission: PartPermission) => string;
  /** Gives a finished file its name as an object. */
  publish: (key: string, file: string) => Promise<void>;
  exists: (key: string) => Promise<boolean>;
}

/**
 * Multipart uploads on the disk. Each part is written to its place in the one file that becomes the
 * object, so the last step is one rename, whatever the size. A part that exists is not written
 * again, and a missing one is written by one request at a time: nobody writes to a file that has
 * all its parts.
 */
export class DiskMultipart implements MultipartUploads {
  readonly #options: DiskMultipartOptions;
  readonly #receptions: NewestReception;

  constructor(options: DiskMultipartOptions) {
    this.#options = options;
    this.#receptions = new NewestReception(options.turns);
  }

  partBytesFor(sizeBytes: number): number {
    return Math.max(this.#options.partBytes, Math.ceil(sizeBytes / MAX_PARTS));
  }

  async create(request: PlannedUpload): Promise<string> {
    requireObjectKey(request.key);
    try {
      return await this.#options.uploads.create(request);
    } catch (error) {
      if (isDiskFull(error)) throw noRoom();
      throw error;
    }
  }

  /** @throws ApiError `not_found` if the upload was aborted or completed */
  async presignParts(request: PartsRequest): Promise<PresignedParts> {
    const { key, uploadId, sizeBytes, partBytes, expiresInSeconds } = request;
    requireObjectKey(key);
    if ((await this.#options.uploads.plan(uploadId))?.key !== key) throw notFound("upload");
    const expiresAt = expiryAfter(expiresInSeconds);
    const parts = partSizes(sizeBytes, partBytes).map((size, index) => {
      const partNumber = index + 1;
      const permission = { method: "PUT", key, uploadId, partNumber, sizeBytes: size, expiresAt } as const;
      const headers = { "content-length": String(size) };
      return {
        url: this.#options.sign(permission),
        method: "PUT" as const,
        headers,
        expiresAt,
        partNumber,
        sizeBytes: size,
      };
    });
    return { parts, expiresAt };
  }

  /**
   * For the routes. The same part may be sent again. Of two requests that send it at once the newer
   * one continues: the older one's sender has usually given up, and its connection does not show
   * that.
   * @returns the part's ETag
   * @throws ApiError `not_found` if the upload is over, `object_mismatch` for another length or for
   * bytes that differ from those stored before (then neither are kept), `unavailable` if the disk
   * is full
   */
  async receive(permission: PartPermission, source: Readable): Promise<string> {
    const name = `${permission.uploadId}/${permission.partNumber}`;
    try {
      return etagOf(await this.#receptions.run(name, source, () => this.#receiveAlone(permission, source)));
    } catch (error) {
      if (isDiskFull(error)) throw noRoom();
      throw error;
    }
  }

  async #receiveAlone(permission: PartPermission, source: Readable): Promise<string> {
    const { key, uploadId, partNumber, sizeBytes } = permission;
    const { uploads, room } = this.#options;
    const plan = await uploads.plan(uploadId);
    if (plan?.key !== key) throw notFound("upload");
    if (partSizes(plan.sizeBytes, plan.partBytes)[partNumber - 1] !== sizeBytes)
      throw new RangeError(`the upload has no part ${partNumber} of ${sizeBytes} bytes`);
    const there = await uploads.marked(uploadId, partNumber);
    if (there !== null) {
      const sent = await receiveBytes(source, sizeBytes, () => Promise.resolve());
      if (sent === there) return there;
      // One of the two is damaged, and only the sender can tell which. If the first were kept, the
      // right one could never replace a wrong one.
      await this.#inTurn(() => uploads.unmark(uploadId, partNumber));
      throw mismatch(`Part ${partNumber} was sent before with different bytes. Send it again.`);
    }
    const claim = await room.claim(sizeBytes);
    try {
      const start = (partNumber - 1) * plan.partBytes;
      const file = await open(uploads.bytes(uploadId), "r+");
      let sha256: string;
      try {
        let position = start;
        sha256 = await receiveBytes(source, sizeBytes, async (block) => {
          await writeAt(file, block, position);
          position += block.length;
          claim.written(block.length);
        });
        await file.sync();
      } finally {
        await file.close();
      }
      await this.#inTurn(() => uploads.mark(uploadId, partNumber, sha256));
      return sha256;
    } catch (error) {
      // It was aborted meanwhile.
      if (errorCode(error) === "ENOENT") throw notFound("upload");
      throw error;
    } finally {
      claim.release();
    }
  }

  /**
   * After a crash the upload is as it was, or the object exists beside the rest of the upload,
   * which a repeat of the same call removes. Nothing happens if a part is missing or has another
   * ETag.
   */
  complete({ key, uploadId, parts }: CompletionRequest): Promise<boolean> {
    requireObjectKey(key);
    const { uploads, publish, exists } = this.#options;
    return this.#inTurn(async () => {
      const plan = await uploads.plan(uploadId);
      if (plan?.key !== key) return exists(key);
      const written = await uploads.bytesWritten(uploadId);
      if (written === null && !(await exists(key))) return false;
      if (written !== null) {
        if (written !== plan.sizeBytes || !(await this.#has(uploadId, plan, parts))) return false;
        await publish(key, uploads.bytes(uploadId));
      }
      await uploads.remove(uploadId);
      return true;
    });
  }

  async abort({ uploadId }: { key: string; uploadId: string }): Promise<void> {
    await this.#inTurn(() => this.#options.uploads.remove(uploadId));
  }

  async *list(): AsyncIterable<UnfinishedUpload> {
    for (const uploadId of await this.#options.uploads.list()) {
      const plan = await this.#options.uploads.plan(uploadId);
      if (plan !== null) yield { key: plan.key, uploadId, initiatedAt: plan.initiatedAt };
    }
  }

  async #has(uploadId: string, plan: PlannedUpload, parts: CompletedPart[]): Promise<boolean> {
    const { length: count } = partSizes(plan.sizeBytes, plan.partBytes);
    if (parts.length !== count) return false;
    const named = new Map(parts.map(({ partNumber, etag }) => [partNumber, etag]));
    for (let partNumber = 1; partNumber <= count; partNumber += 1) {
      const sha256 = await this.#options.uploads.marked(uploadId, partNumber);
      if (sha256 === null || named.get(partNumber) !== etagOf(sha256)) return false;
    }
    return true;
  }

  /** Marking, finishing and removing run one after the other. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return inTurn(this.#options.turns, "finishing uploads in parts", work);
  }
}

function etagOf(sha256: string): string {
  return `"${sha256}"`;
}
