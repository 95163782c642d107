import type { UploadUrlRequest } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import { ApiError, invalidRequest, notFound } from "../../platform/errors/api-error.ts";
import { findBackupOfUpload } from "./store.ts";
import { findUpload, type Upload } from "./upload-store.ts";
import { mismatch } from "./stored-ciphertext.ts";

/**
 * An upload that is to continue although its URLs have expired. Throws `not_found`, `forbidden`,
 * `already_exists`, `object_mismatch`, `invalid_request`.
 */
export async function findRenewable(
  db: Database,
  agent: { id: string; orgId: string },
  request: UploadUrlRequest & { upload_id: string },
): Promise<Upload> {
  const upload = await findUpload(db, agent.orgId, request.upload_id);
  if (upload === null) throw notFound("upload");
  if (upload.agent_id !== agent.id) throw new ApiError("forbidden", "Another agent made this upload.");
  if (upload.source_id !== request.source_id)
    throw invalidRequest("The upload is for another source.", [
      { path: "/source_id", message: "is not the upload's source" },
    ]);
  if (request.sha256 !== upload.sha256.toString("hex") || request.size_bytes !== upload.size_bytes)
    throw mismatch("The upload was announced with a different SHA-256 or size.");
  const registered = await findBackupOfUpload(db, upload.id);
  if (registered !== null)
    throw new ApiError("already_exists", "This upload is already registered.", { backup_id: registered });
  return upload;
}
