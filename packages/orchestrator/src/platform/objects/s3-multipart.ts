import { unavailable } from "../http/errors.ts";
import type { CompletedPart, MultipartUpload, MultipartUploads } from "./object-store.ts";
import type { S3Client } from "./s3-client.ts";
import { presignS3 } from "./s3-presign.ts";
import type { S3Settings } from "./s3-presign.ts";
import { escapeXml, xmlText } from "./s3-xml.ts";

const MAX_PARTS = 10_000;
/** S3 takes no smaller part but the last. */
const MIN_PART_BYTES = 5 * 1024 * 1024;

/** Multipart uploads of S3: each part has a URL of its own, that binds its number and length. */
export class S3Multipart implements MultipartUploads {
  readonly #settings: S3Settings;
  readonly #client: S3Client;
  readonly #partBytes: number;

  constructor(settings: S3Settings, client: S3Client, partBytes: number) {
    this.#settings = settings;
    this.#client = client;
    this.#partBytes = Math.max(partBytes, MIN_PART_BYTES);
  }

  async create(request: {
    key: string;
    sizeBytes: number;
    expiresInSeconds: number;
  }): Promise<MultipartUpload> {
    const { key, sizeBytes, expiresInSeconds } = request;
    const response = await this.#client.call({ method: "POST", key, query: { uploads: "" } }, [200]);
    const uploadId = xmlText(await response.text(), "UploadId");
    if (uploadId === null || uploadId === "") throw unavailable("The object store did not begin the upload.");
    const signedAt = new Date();
    const expiresAt = new Date(signedAt.getTime() + expiresInSeconds * 1000);
    const parts = partSizes(sizeBytes, this.#partBytes).map(async (partSize, index) => {
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
    return { uploadId, parts: await Promise.all(parts), expiresAt };
  }

  async complete(request: { key: string; uploadId: string; parts: CompletedPart[] }): Promise<boolean> {
    const { key, uploadId, parts } = request;
    const body = completionXml(parts);
    const response = await this.#client.call(
      { method: "POST", key, query: { uploadId }, body },
      [200, 400, 404],
    );
    const answer = await response.text();
    // S3 begins to answer 200 before it is done, so an error can be inside.
    if (response.status === 200 && xmlText(answer, "Code") === null) return true;
    if (response.status === 200) throw unavailable("The object store did not finish the upload.");
    // An upload that was completed before is gone too; then its object is there.
    const head = await this.#client.call({ method: "HEAD", key }, [200, 404]);
    return head.status === 200;
  }

  async abort(request: { key: string; uploadId: string }): Promise<void> {
    await this.#client.call(
      { method: "DELETE", key: request.key, query: { uploadId: request.uploadId } },
      [204, 200, 404],
    );
  }
}

/** Equal parts and a rest; larger ones where there would be too many. */
export function partSizes(sizeBytes: number, wantedBytes: number): number[] {
  const partBytes = Math.max(wantedBytes, Math.ceil(sizeBytes / MAX_PARTS));
  const count = Math.max(1, Math.ceil(sizeBytes / partBytes));
  return Array.from({ length: count }, (_, index) => Math.min(partBytes, sizeBytes - index * partBytes));
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
