import { newId, PRESIGNED_URL_S, type UploadUrl, type UploadUrlRequest } from "@attestore/contract";
import { invalidRequest } from "../../platform/errors/api-error.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import type { Upload } from "./upload-store.ts";

export interface PreparedUpload {
  answer: UploadUrl;
  expiresAt: Date;
  /** Null if one PUT is enough. */
  multipart: Upload["multipart"];
}

type Target = Pick<Upload, "id" | "object_key" | "size_bytes" | "sha256" | "multipart">;

/**
 * Signs URLs for the ciphertext. They allow only these bytes, under a new key that nobody can
 * choose.
 */
export async function prepareUpload(
  objects: ObjectStore,
  orgId: string,
  request: UploadUrlRequest,
): Promise<PreparedUpload> {
  const id = newId("upload");
  const object_key = `${orgId}/${request.source_id}/${id}.age`;
  const { size_bytes } = request;
  const multipart = await beginParts(objects, object_key, size_bytes);
  return signUpload(objects, {
    id,
    object_key,
    size_bytes,
    sha256: Buffer.from(request.sha256, "hex"),
    multipart,
  });
}

async function beginParts(
  objects: ObjectStore,
  key: string,
  sizeBytes: number,
): Promise<Upload["multipart"]> {
  if (sizeBytes <= objects.singlePutLimitBytes) return null;
  const part_bytes = objects.multipart.partBytesFor(sizeBytes);
  if (part_bytes === null)
    throw invalidRequest("The object store does not accept an object of that size. Split the source.", [
      { path: "/size_bytes", message: "is more than an object can hold" },
    ]);
  return { upload_id: await objects.multipart.create({ key, sizeBytes, partBytes: part_bytes }), part_bytes };
}

/** Fresh URLs for an upload. Earlier URLs stay valid until they expire. */
export async function signUpload(objects: ObjectStore, upload: Target): Promise<PreparedUpload> {
  const { id, object_key: key, size_bytes: sizeBytes, multipart } = upload;
  const answer = { upload_id: id, object_key: key, method: "PUT" as const };
  if (multipart === null) {
    const sha256 = upload.sha256.toString("hex");
    const put = await objects.presignPut({ key, sizeBytes, sha256, expiresInSeconds: PRESIGNED_URL_S });
    const { url: upload_url, headers, expiresAt } = put;
    return {
      answer: { ...answer, upload_url, headers, expires_at: expiresAt.toISOString() },
      expiresAt,
      multipart: null,
    };
  }
  const { parts, expiresAt } = await objects.multipart.presignParts({
    key,
    sizeBytes,
    uploadId: multipart.upload_id,
    partBytes: multipart.part_bytes,
    expiresInSeconds: PRESIGNED_URL_S,
  });
  const urls = parts.map(({ partNumber, url, sizeBytes: size }) => ({
    part_number: partNumber,
    upload_url: url,
    size_bytes: size,
  }));
  return {
    answer: {
      ...answer,
      upload_url: urls[0]?.upload_url ?? "",
      headers: {},
      expires_at: expiresAt.toISOString(),
      parts: urls,
    },
    expiresAt,
    multipart,
  };
}
