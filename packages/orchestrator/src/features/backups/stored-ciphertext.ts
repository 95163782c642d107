import { setTimeout as pause } from "node:timers/promises";
import type { RegisterBackupRequest } from "@attestore/contract";
import { ApiError, invalidRequest } from "../../platform/errors/api-error.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import type { Upload } from "./upload-store.ts";

/** Less than the 30 s that an agent waits for an answer. */
const ANSWER_WITHIN_MS = 20_000;

/**
 * Checks that the object store holds what was announced. Reads the bytes if the store doesn't vouch
 * for their SHA-256, and locks the object if the settings say so. Throws `object_missing` and
 * `object_mismatch`. Throws `unavailable` with `details.verifying` if this takes longer than a
 * request may: the check continues, and a repeat of the request gets its result.
 */
export async function requireStored(
  objects: ObjectStore,
  upload: Upload,
  parts: RegisterBackupRequest["parts"],
  answerWithin_ms = ANSWER_WITHIN_MS,
): Promise<void> {
  const deadline = new AbortController();
  const checking = check(objects, upload, parts);
  try {
    await Promise.race([
      checking,
      pause(answerWithin_ms, undefined, { signal: deadline.signal }).then(() => {
        throw stillVerifying();
      }),
    ]);
  } finally {
    deadline.abort();
    // A result after the deadline is for the next request.
    checking.catch(() => undefined);
  }
}

async function check(
  objects: ObjectStore,
  upload: Upload,
  parts: RegisterBackupRequest["parts"],
): Promise<void> {
  if (upload.multipart !== null) await completeParts(objects, upload, upload.multipart.upload_id, parts);
  else if (parts !== undefined)
    throw invalidRequest("This upload has no parts.", [{ path: "/parts", message: "must be absent" }]);
  const stored = await objects.head(upload.object_key);
  if (stored === null) throw missing();
  if (stored.sizeBytes !== upload.size_bytes)
    throw mismatch(
      `The object has ${stored.sizeBytes} bytes, but the upload announced ${upload.size_bytes}.`,
    );
  const sha256 = stored.sha256 ?? (await objects.hash(upload.object_key))?.sha256;
  if (sha256 === undefined) throw missing();
  if (sha256 !== upload.sha256.toString("hex"))
    throw mismatch("The object's SHA-256 differs from the one that the upload announced.");
  // Before the backup is recorded, so that every recorded backup is locked, whatever happens in
  // between.
  await objects.protect(upload.object_key);
}

async function completeParts(
  objects: ObjectStore,
  upload: Upload,
  uploadId: string,
  parts: RegisterBackupRequest["parts"],
): Promise<void> {
  if (parts === undefined)
    throw invalidRequest("This upload has parts: list each with its ETag.", [
      { path: "/parts", message: "is required for this upload" },
    ]);
  const completed = parts.map(({ part_number, etag }) => ({ partNumber: part_number, etag }));
  if (!(await objects.multipart.complete({ key: upload.object_key, uploadId, parts: completed })))
    throw missing();
}

function stillVerifying(): ApiError {
  return new ApiError(
    "unavailable",
    "The service is still reading the object to check it. Send the same request again in a moment.",
    { verifying: true },
    { "retry-after": "2" },
  );
}

function missing(): ApiError {
  return new ApiError(
    "object_missing",
    "The ciphertext is not in the object store. Ask for a new upload URL.",
  );
}

export function mismatch(message: string): ApiError {
  return new ApiError("object_mismatch", message);
}
