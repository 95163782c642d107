import { randomUUID } from "node:crypto";
import type { UploadPart, UploadUrl } from "@attestore/contract";
import type { Layout } from "../../state/layout.ts";
import type { Service } from "../../service/service.ts";
import { ServiceError } from "../../transport/service-error.ts";
import { blobPath, type PendingBackup } from "../../journal/pending-backup.ts";
import {
  dropProgress,
  readProgress,
  saveProgress,
  type SentPart,
  type UploadProgress,
} from "../../journal/upload-progress.ts";
import type { TransferOptions } from "../backup-backend.ts";

interface Uploader {
  readonly layout: Layout;
  readonly service: Pick<Service, "uploadUrl" | "upload">;
}

/**
 * How often new URLs are requested without a part arriving. The store refuses URLs after 15
 * minutes.
 */
const URLS = 3;

/**
 * Uploads a ciphertext to the object store. A multipart upload continues where an earlier try, in
 * this process or another, was interrupted, and may outlast its URLs. The caller holds the `work`
 * lock. @throws ServiceError
 */
export async function uploadBackup(
  attachment: Uploader,
  pending: PendingBackup,
  sourceId: string,
  options: TransferOptions,
): Promise<NonNullable<PendingBackup["upload"]>> {
  const { layout } = attachment;
  let begun = await readProgress(layout, pending.sha256);
  if (begun?.source_id !== sourceId) begun = null;
  for (let fruitless = 1; ; fruitless++) {
    const target = await askForUrls(attachment, pending, sourceId, begun, options);
    if (begun?.upload_id !== target.upload_id)
      begun = { v: 1, upload_id: target.upload_id, source_id: sourceId, parts: [] };
    const before = begun.parts.length;
    try {
      const parts =
        target.parts === undefined
          ? await sendWhole(attachment, pending, target, options)
          : await sendParts(attachment, pending, target.parts, begun, options);
      return { id: target.upload_id, source_id: sourceId, idempotency_key: randomUUID(), parts };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const isGone = error.status === 404 && target.parts !== undefined;
      if (!(error.code === "object_refused" && isGone) && !hasRunOut(error, target)) throw error;
      begun = isGone ? null : await readProgress(layout, pending.sha256);
      if (isGone) await dropProgress(layout, pending.sha256);
      if ((begun?.parts.length ?? 0) > before) fruitless = 0;
      if (fruitless >= URLS) throw error;
    }
  }
}

/**
 * A store that refuses a URL may reset the connection before its answer is read. Then only the
 * URL's age tells why.
 */
function hasRunOut(error: ServiceError, target: UploadUrl): boolean {
  if (error.code === "object_refused") return error.status === 403;
  return error.code === "unreachable" && Date.now() >= Date.parse(target.expires_at);
}

/** URLs of the upload already begun, or of a new one if the service no longer continues it. */
async function askForUrls(
  { service, layout }: Uploader,
  { sha256, size_bytes }: PendingBackup,
  sourceId: string,
  begun: UploadProgress | null,
  options: TransferOptions,
): Promise<UploadUrl> {
  const request = { source_id: sourceId, sha256, size_bytes };
  // Use a fresh idempotency key each time: a replayed answer would contain an expired URL.
  if (begun === null || begun.parts.length === 0) return service.uploadUrl(request, options);
  try {
    return await service.uploadUrl({ ...request, upload_id: begun.upload_id }, options);
  } catch (error) {
    if (!(error instanceof ServiceError) || !NO_LONGER.has(error.refusal?.error ?? "")) throw error;
    await dropProgress(layout, sha256);
    return service.uploadUrl(request, options);
  }
}

const NO_LONGER = new Set([
  "not_found",
  "forbidden",
  "already_exists",
  "conflict",
  "object_mismatch",
  "invalid_request",
]);

async function sendWhole(
  { layout, service }: Uploader,
  { sha256, size_bytes }: PendingBackup,
  target: UploadUrl,
  { signal, onProgress, maxBytesPerSecond = null }: TransferOptions,
): Promise<null> {
  await service.upload({
    url: target.upload_url,
    headers: target.headers,
    file: blobPath(layout, sha256),
    offset: 0,
    sizeBytes: size_bytes,
    signal,
    maxBytesPerSecond,
    onProgress: (sent) => onProgress?.(sent, size_bytes),
  });
  return null;
}

async function sendParts(
  { layout, service }: Uploader,
  { sha256, size_bytes }: PendingBackup,
  parts: readonly UploadPart[],
  begun: UploadProgress,
  { signal, onProgress, maxBytesPerSecond = null }: TransferOptions,
): Promise<readonly SentPart[]> {
  if (parts.reduce((sum, part) => sum + part.size_bytes, 0) !== size_bytes)
    throw new ServiceError("invalid_response", "the service's parts do not add up to the ciphertext's size");
  const sent = [...begun.parts];
  let offset = 0;
  for (const { part_number, upload_url, size_bytes: sizeBytes } of parts) {
    const before = offset;
    offset += sizeBytes;
    if (!sent.some((part) => part.part_number === part_number)) {
      const etag = await service.upload({
        url: upload_url,
        headers: {},
        file: blobPath(layout, sha256),
        offset: before,
        sizeBytes,
        signal,
        maxBytesPerSecond,
        onProgress: (bytes) => onProgress?.(before + bytes, size_bytes),
      });
      if (etag === null)
        throw new ServiceError(
          "invalid_response",
          "the object store returned no ETag for a part of the upload",
        );
      sent.push({ part_number, etag });
      await saveProgress(layout, sha256, { ...begun, parts: sent });
    }
    onProgress?.(offset, size_bytes);
  }
  return sent;
}
