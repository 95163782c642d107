import { randomUUID } from "node:crypto";
import type { UploadUrl } from "@attestore/contract";
import type { Attachment } from "../service/attachment.ts";
import { ServiceError } from "../service/service-error.ts";
import { blobPath, type PendingBackup } from "./pending-backup.ts";

export interface TransferOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (bytes: number, totalBytes: number) => void;
  readonly maxBytesPerSecond?: number | null;
}

/** How often a presigned URL is asked for when the store refuses it, which it does after 15 minutes. */
const URLS = 3;

/** Sends a ciphertext to the object store. @throws ServiceError */
export async function uploadBackup(
  attachment: Attachment,
  pending: PendingBackup,
  sourceId: string,
  options: TransferOptions,
): Promise<NonNullable<PendingBackup["upload"]>> {
  const { service } = attachment;
  for (let asked = 1; ; asked++) {
    const { sha256, size_bytes } = pending;
    // A fresh key each time: a replayed answer would hold a URL that has run out.
    const target = await service.uploadUrl({ source_id: sourceId, sha256, size_bytes }, options);
    try {
      const parts = await sendParts(attachment, pending, target, options);
      return { id: target.upload_id, source_id: sourceId, idempotency_key: randomUUID(), parts };
    } catch (error) {
      const ranOut = error instanceof ServiceError && error.code === "object_refused" && error.status === 403;
      if (!ranOut || asked >= URLS) throw error;
    }
  }
}

async function sendParts(
  { layout, service }: Attachment,
  { sha256, size_bytes }: PendingBackup,
  target: UploadUrl,
  { signal, onProgress, maxBytesPerSecond = null }: TransferOptions,
): Promise<{ part_number: number; etag: string }[] | null> {
  const file = blobPath(layout, sha256);
  if (target.parts === undefined) {
    await service.upload({
      url: target.upload_url,
      headers: target.headers,
      file,
      offset: 0,
      sizeBytes: size_bytes,
      signal,
      maxBytesPerSecond,
      onProgress: (sent) => onProgress?.(sent, size_bytes),
    });
    return null;
  }
  const sent: { part_number: number; etag: string }[] = [];
  let offset = 0;
  for (const part of target.parts) {
    const before = offset;
    const etag = await service.upload({
      url: part.upload_url,
      headers: {},
      file,
      offset,
      sizeBytes: part.size_bytes,
      signal,
      maxBytesPerSecond,
      onProgress: (bytes) => onProgress?.(before + bytes, size_bytes),
    });
    if (etag === null)
      throw new ServiceError("invalid_response", "the object store gave no ETag for a part of the upload");
    sent.push({ part_number: part.part_number, etag });
    offset += part.size_bytes;
  }
  if (offset !== size_bytes)
    throw new ServiceError("invalid_response", "the service's parts do not add up to the ciphertext's size");
  return sent;
}
