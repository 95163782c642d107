import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { escapeXml, xmlText, xmlTexts } from "@attestore/host/s3/xml";
import { ServiceError } from "../../../transport/service-error.ts";
import { uploadObject } from "../../../transport/upload-object.ts";
import type { StoredObject } from "../backup-store.ts";
import type { S3Client } from "../../../transport/s3-client.ts";

const MiB = 1024 * 1024;
const LEAST_PART_BYTES = 16 * MiB;
const MOST_PARTS = 9_000;

interface Sent {
  readonly etag: string;
  readonly sizeBytes: number;
}

/**
 * A multipart upload that continues where an earlier one of this key stopped. It asks the store
 * which parts have arrived, so there is nothing to remember here, and nothing that a crash could
 * make wrong. @throws ServiceError
 */
export async function uploadInParts(
  client: S3Client,
  object: StoredObject,
  file: string,
  options: { signal: AbortSignal; onBytes: (bytes: number) => void; maxBytesPerSecond: number | null },
): Promise<void> {
  const { signal } = options;
  const found = await uploadUnderWay(client, object.key, signal);
  const sent = found === null ? new Map<number, Sent>() : await partsOf(client, object.key, found, signal);
  const uploadId = found ?? (await create(client, object.key, signal));
  const partBytes = partSize(object.sizeBytes, sent.get(1)?.sizeBytes);
  const etags: string[] = [];
  for (let offset = 0; offset < object.sizeBytes; offset += partBytes) {
    const partNumber = etags.length + 1;
    const sizeBytes = Math.min(partBytes, object.sizeBytes - offset);
    const before = sent.get(partNumber);
    const isThere = before?.sizeBytes === sizeBytes;
    etags.push(
      isThere
        ? before.etag
        : await sendPart(client, object.key, { uploadId, partNumber, file, offset, sizeBytes }, options),
    );
    options.onBytes(offset + sizeBytes);
  }
  const body = `<CompleteMultipartUpload>${etags
    .map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`)
    .join("")}</CompleteMultipartUpload>`;
  const answer = await client.ask({
    method: "POST",
    url: client.url(object.key, { uploadId }),
    body: { text: body, sha256: createHash("sha256").update(body).digest("hex") },
    expected: [200],
    signal,
  });
  // S3 may fail after it has sent its 200.
  if (xmlText(answer.body.toString("utf8"), "Code") !== null)
    throw new ServiceError("object_refused", `${client.url("").host} could not assemble the parts`, {
      status: 500,
    });
}

/** The first part of an earlier attempt shows how large its parts are. */
function partSize(totalBytes: number, before: number | undefined): number {
  if (before !== undefined && before < totalBytes && before >= 5 * MiB) return before;
  return Math.max(LEAST_PART_BYTES, Math.ceil(totalBytes / MOST_PARTS / MiB) * MiB);
}

async function create(client: S3Client, key: string, signal: AbortSignal): Promise<string> {
  const url = client.url(key, { uploads: "" });
  const { body } = await client.ask({ method: "POST", url, expected: [200], signal });
  const uploadId = xmlText(body.toString("utf8"), "UploadId");
  if (uploadId !== null) return uploadId;
  throw new ServiceError("invalid_response", `${url.host} started an upload without returning its id`);
}

async function uploadUnderWay(client: S3Client, key: string, signal: AbortSignal): Promise<string | null> {
  const { prefix } = client.location;
  const name = prefix === "" ? key : `${prefix}/${key}`;
  const url = client.url("", { uploads: "", prefix: name });
  const { body } = await client.ask({ method: "GET", url, expected: [200], signal });
  const text = body.toString("utf8");
  const keys = xmlTexts(text, "Key");
  const ids = xmlTexts(text, "UploadId");
  return ids.findLast((_, at) => keys[at] === name) ?? null;
}

async function partsOf(
  client: S3Client,
  key: string,
  uploadId: string,
  signal: AbortSignal,
): Promise<Map<number, Sent>> {
  const found = new Map<number, Sent>();
  for (let marker = "0"; ;) {
    const url = client.url(key, { uploadId, "part-number-marker": marker });
    const { body } = await client.ask({ method: "GET", url, expected: [200], signal });
    const text = body.toString("utf8");
    const [etags, sizes] = [xmlTexts(text, "ETag"), xmlTexts(text, "Size")];
    for (const [at, number] of xmlTexts(text, "PartNumber").entries())
      found.set(Number(number), { etag: etags[at] ?? "", sizeBytes: Number(sizes[at]) });
    const next = xmlText(text, "NextPartNumberMarker");
    if (xmlText(text, "IsTruncated") !== "true" || next === null || next === marker) return found;
    marker = next;
  }
}

interface Part {
  readonly uploadId: string;
  readonly partNumber: number;
  readonly file: string;
  readonly offset: number;
  readonly sizeBytes: number;
}

async function sendPart(
  client: S3Client,
  key: string,
  { uploadId, partNumber, file, offset, sizeBytes }: Part,
  {
    signal,
    onBytes,
    maxBytesPerSecond,
  }: { signal: AbortSignal; onBytes: (bytes: number) => void; maxBytesPerSecond: number | null },
): Promise<string> {
  const url = client.url(key, { partNumber: String(partNumber), uploadId });
  const hash = createHash("sha256");
  for await (const piece of createReadStream(file, { start: offset, end: offset + sizeBytes - 1, signal }))
    hash.update(piece as Buffer);
  const sha256 = hash.digest("hex");
  const etag = await uploadObject(client.connections, client.backoff, {
    url: url.href,
    headers: () => client.sign("PUT", url, sha256),
    file,
    offset,
    sizeBytes,
    signal,
    onProgress: (bytes) => onBytes(offset + bytes),
    maxBytesPerSecond,
  });
  if (etag !== null) return etag;
  throw new ServiceError("invalid_response", `${url.host} returned no ETag for a part of the upload`);
}
