import { escapeXml, xmlText } from "@attestore/host/s3/xml";
import { unavailable } from "../errors/api-error.ts";
import { isOwnKey, requireObjectKey } from "./object-key.ts";
import type {
  CompletedPart,
  CompletionRequest,
  MultipartUploads,
  PartsRequest,
  PresignedParts,
  UnfinishedUpload,
} from "./object-store.ts";
import { MAX_PARTS, partSizes } from "./part-sizes.ts";
import type { S3Client } from "./s3-client.ts";
import { listS3, MULTIPART_UPLOADS } from "./s3-listing.ts";
import { presignS3 } from "./s3-presign.ts";
import type { S3Settings } from "./s3-presign.ts";
import { SingleFlight } from "./single-flight.ts";

/** S3 accepts no smaller part, except the last. */
const MIN_PART_BYTES = 5 * 1024 ** 2;
const MAX_PART_BYTES = 5 * 1024 ** 3;
/** Some stores copy the parts before they answer. */
const COMPLETED_WITHIN_MS = 10 * 60_000;
/** Only what this service began: others may use the bucket too. */
const OWN_PREFIX = "org_";

/** Multipart uploads of S3: each part has a URL of its own that binds its number and length. */
export class S3Multipart implements MultipartUploads {
  readonly #settings: S3Settings;
  readonly #client: S3Client;
  readonly #partBytes: number;
  /** By upload id. */
  readonly #completing = new SingleFlight<boolean>();

  constructor(settings: S3Settings, client: S3Client, partBytes: number) {
    this.#settings = settings;
    this.#client = client;
    this.#partBytes = Math.max(partBytes, MIN_PART_BYTES);
  }

  partBytesFor(sizeBytes: number): number | null {
    const partBytes = Math.max(this.#partBytes, Math.ceil(sizeBytes / MAX_PARTS));
    return partBytes > MAX_PART_BYTES ? null : partBytes;
  }

  async create({ key }: { key: string }): Promise<string> {
    requireObjectKey(key);
    const response = await this.#client.call({ method: "POST", key, query: { uploads: "" } }, [200]);
    const uploadId = xmlText(response.text, "UploadId");
    if (uploadId === null || uploadId === "") throw unavailable("The object store did not start the upload.");
    return uploadId;
  }

  async presignParts(request: PartsRequest): Promise<PresignedParts> {
    const { key, uploadId, sizeBytes, partBytes, expiresInSeconds } = request;
    requireObjectKey(key);
    const signedAt = new Date();
    const expiresAt = new Date(signedAt.getTime() + expiresInSeconds * 1000);
    const parts = partSizes(sizeBytes, partBytes).map(async (partSize, index) => {
      const headers = { "content-length": String(partSize) };
      const query = { partNumber: String(index + 1), uploadId };
      const url = await presignS3(
        this.#settings,
        { method: "PUT", key, query, headers },
        expiresInSeconds,
        signedAt,
      );
      return { url, method: "PUT" as const, headers, expiresAt, partNumber: index + 1, sizeBytes: partSize };
    });
    return { parts: await Promise.all(parts), expiresAt };
  }

  complete(request: CompletionRequest): Promise<boolean> {
    requireObjectKey(request.key);
    return this.#completing.do(request.uploadId, () => this.#complete(request));
  }

  async #complete({ key, uploadId, parts }: CompletionRequest): Promise<boolean> {
    const response = await this.#client.call(
      {
        method: "POST",
        key,
        query: { uploadId },
        body: completionXml(parts),
        answerWithinMs: COMPLETED_WITHIN_MS,
      },
      [200, 400, 404],
    );
    const answer = response.text;
    // S3 begins to answer 200 before it is done, so the answer can contain an error.
    if (response.status === 200 && xmlText(answer, "Code") === null) return true;
    if (response.status === 200) throw unavailable("The object store did not finish the upload.");
    // An upload that was completed before is gone too, but then its object exists.
    const head = await this.#client.call({ method: "HEAD", key }, [200, 404]);
    return head.status === 200;
  }

  async abort(request: { key: string; uploadId: string }): Promise<void> {
    await this.#client.call(
      { method: "DELETE", key: request.key, query: { uploadId: request.uploadId } },
      [204, 200, 404],
    );
  }

  async *list(): AsyncIterable<UnfinishedUpload> {
    for await (const { key, text } of listS3(this.#client, MULTIPART_UPLOADS, OWN_PREFIX)) {
      const uploadId = text("UploadId");
      const initiatedAt = new Date(text("Initiated") ?? Number.NaN);
      if (!isOwnKey(key) || uploadId === null || Number.isNaN(initiatedAt.getTime())) continue;
      yield { key, uploadId, initiatedAt };
    }
  }
}

function completionXml(parts: CompletedPart[]): string {
  const listed = parts
    .toSorted((a, b) => a.partNumber - b.partNumber)
    .map(
      ({ partNumber, etag }) =>
        `<Part><PartNumber>${partNumber}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
    );
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${listed.join("")}</CompleteMultipartUpload>`;
}
