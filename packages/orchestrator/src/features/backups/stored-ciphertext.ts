import type { RegisterBackupRequest } from "@attestore/contract";
import { ApiError, invalidRequest } from "../../platform/http/errors.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import type { Upload } from "./store.ts";

/**
 * Asks the object store whether it holds what was announced, and reads the bytes where the store itself does not vouch for
 * their SHA-256. Throws `object_missing` and `object_mismatch`.
 */
export async function requireStored(
  objects: ObjectStore,
  upload: Upload,
  parts: RegisterBackupRequest["parts"],
): Promise<void> {
  if (upload.multipart !== null) await completeParts(objects, upload, upload.multipart.upload_id, parts);
  else if (parts !== undefined)
    throw invalidRequest("This upload has no parts.", [{ path: "/parts", message: "has to be absent" }]);
  const stored = await objects.head(upload.object_key);
  if (stored === null) throw missing();
  if (stored.sizeBytes !== upload.size_bytes)
    throw mismatch(`The object has ${stored.sizeBytes} bytes, the upload announced ${upload.size_bytes}.`);
  const sha256 = stored.sha256 ?? (await objects.hash(upload.object_key))?.sha256;
  if (sha256 === undefined) throw missing();
  if (sha256 !== upload.sha256.toString("hex"))
    throw mismatch("The object has another SHA-256 than the upload announced.");
}

async function completeParts(
  objects: ObjectStore,
  upload: Upload,
  uploadId: string,
  parts: RegisterBackupRequest["parts"],
): Promise<void> {
  if (parts === undefined)
    throw invalidRequest("This upload has parts: name each with its ETag.", [
      { path: "/parts", message: "is required for this upload" },
    ]);
  if (objects.multipart === null) throw missing();
  const completed = parts.map(({ part_number, etag }) => ({ partNumber: part_number, etag }));
  if (!(await objects.multipart.complete({ key: upload.object_key, uploadId, parts: completed })))
    throw missing();
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
