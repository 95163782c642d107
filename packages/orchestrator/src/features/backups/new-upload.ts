import { newId, PRESIGNED_URL_S, type UploadUrl, type UploadUrlRequest } from "@attestore/contract";
import type { ObjectStore } from "../../platform/objects/object-store.ts";

export interface PreparedUpload {
  answer: UploadUrl;
  expiresAt: Date;
  /** The object store's id of a multipart upload. */
  multipartId: string | null;
}

/** Signs where the ciphertext goes: a key of its own, that nobody chooses, and these bytes alone. */
export async function prepareUpload(
  objects: ObjectStore,
  orgId: string,
  request: UploadUrlRequest,
): Promise<PreparedUpload> {
  const uploadId = newId("upload");
  const key = `${orgId}/${request.source_id}/${uploadId}.age`;
  const { size_bytes: sizeBytes, sha256 } = request;
  if (objects.multipart !== null && sizeBytes > objects.singlePutLimitBytes)
    return prepareParts(objects.multipart, uploadId, key, sizeBytes);
  const put = await objects.presignPut({ key, sizeBytes, sha256, expiresInSeconds: PRESIGNED_URL_S });
  return {
    answer: {
      upload_id: uploadId,
      object_key: key,
      upload_url: put.url,
      method: put.method,
      headers: put.headers,
      expires_at: put.expiresAt.toISOString(),
    },
    expiresAt: put.expiresAt,
    multipartId: null,
  };
}

async function prepareParts(
  multipart: NonNullable<ObjectStore["multipart"]>,
  uploadId: string,
  key: string,
  sizeBytes: number,
): Promise<PreparedUpload> {
  const upload = await multipart.create({ key, sizeBytes, expiresInSeconds: PRESIGNED_URL_S });
  const parts = upload.parts.map(({ partNumber, url, sizeBytes: size }) => ({
    part_number: partNumber,
    upload_url: url,
    size_bytes: size,
  }));
  const [first] = upload.parts;
  if (first === undefined) throw new Error("a multipart upload has no parts");
  return {
    answer: {
      upload_id: uploadId,
      object_key: key,
      upload_url: first.url,
      method: "PUT",
      headers: {},
      expires_at: upload.expiresAt.toISOString(),
      parts,
    },
    expiresAt: upload.expiresAt,
    multipartId: upload.uploadId,
  };
}
