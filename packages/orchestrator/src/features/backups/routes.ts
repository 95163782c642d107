import {
  Id,
  MAX_SOURCE_METADATA_BYTES,
  MAX_SOURCE_METADATA_VALUES,
  PRESIGNED_URL_S,
  RegisterBackupRequest,
  UploadUrlRequest,
  BackupRecord,
  DownloadUrl,
  KeptBackups,
  UploadUrl,
} from "@attestore/contract";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { Type } from "@fastify/type-provider-typebox";
import type { Database } from "../../platform/database/schema.ts";
import { requireWithin } from "../../platform/http/body/bounded-json.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { readRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { requireRoom, reserveRoom } from "../quotas/require-room.ts";
import type { QuotaDefaults } from "../quotas/settings.ts";
import { findSource } from "../sources/store.ts";
import { requireOwnedSource } from "../sources/owned-source.ts";
import { isAgentOf } from "../sources/source-agents.ts";
import { prepareUpload, signUpload } from "./new-upload.ts";
import { withObjectStore } from "./with-object-store.ts";
import { backupRecord, downloadedBackup } from "./serialize.ts";
import { findRegistrable, registerBackup } from "./register-backup.ts";
import { findRenewable } from "./renew-upload.ts";
import { findBackup, listKept } from "./store.ts";
import { insertUpload, renewUpload } from "./upload-store.ts";
import { requireStored } from "./stored-ciphertext.ts";

/** How many backups one page of the kept ones is about. */
const MAX_KEPT = 500;
const METADATA = { bytes: MAX_SOURCE_METADATA_BYTES, values: MAX_SOURCE_METADATA_VALUES };

export function backupRoutes({
  db,
  objects,
  quotas,
}: {
  db: Database;
  objects: ObjectStore;
  quotas: QuotaDefaults;
}): Route[] {
  const uploadUrl = writeRoute({
    method: "POST",
    path: "/v1/backups/upload-url",
    summary: "Ask for a URL to upload a ciphertext to",
    action: "backup.upload",
    answers: { 200: UploadUrl, 201: UploadUrl },
    errors: ["not_found", "already_exists", "object_mismatch", "quota_exceeded"],
    credential: "agent",
    body: UploadUrlRequest,
    rateLimits: ["default"],
    async prepare(call) {
      const { principal, body } = call;
      const { upload_id } = body;
      const upload = await readInOrg(db, principal.orgId, async (tx) => {
        await requireOwnedSource(tx, principal, body.source_id);
        if (upload_id !== undefined) return findRenewable(tx, principal, { ...body, upload_id });
        // Checked first, so that the store never begins a multipart upload that isn't allowed.
        await requireRoom(tx, quotas, principal.orgId, body.size_bytes);
        return null;
      });
      if (upload === null) return withObjectStore(call, () => prepareUpload(objects, principal.orgId, body));
      return withObjectStore(call, () => signUpload(objects, upload));
    },
    async handle({ body, principal }, tx, prepared) {
      await requireOwnedSource(tx, principal, body.source_id);
      if (body.upload_id !== undefined) {
        await renewUpload(tx, body.upload_id, prepared.expiresAt);
        return { status: 200, body: prepared.answer };
      }
      await reserveRoom(tx, quotas, principal.orgId, body.size_bytes);
      await insertUpload(tx, {
        id: prepared.answer.upload_id,
        org_id: principal.orgId,
        source_id: body.source_id,
        agent_id: principal.id,
        object_key: prepared.answer.object_key,
        sha256: Buffer.from(body.sha256, "hex"),
        size_bytes: body.size_bytes,
        multipart: prepared.multipart === null ? null : JSON.stringify(prepared.multipart),
        expires_at: prepared.expiresAt,
      });
      return { status: 201, body: prepared.answer };
    },
  });

  const register = writeRoute({
    method: "POST",
    path: "/v1/backups",
    summary: "Register an uploaded ciphertext as a backup",
    action: "backup.register",
    answers: { 201: BackupRecord },
    errors: ["not_found", "object_missing", "object_mismatch", "already_exists"],
    credential: "agent",
    body: RegisterBackupRequest,
    rateLimits: ["default"],
    async prepare(call) {
      requireWithin("source_metadata", call.body.source_metadata, METADATA);
      const { principal, body } = call;
      const upload = await readInOrg(db, principal.orgId, (tx) => findRegistrable(tx, principal, body));
      await withObjectStore(call, () => requireStored(objects, upload, call.body.parts));
      return upload;
    },
    async handle({ body, principal }, tx, upload) {
      return { status: 201, body: backupRecord(await registerBackup(tx, principal, upload, body)) };
    },
  });

  const downloadUrl = writeRoute({
    method: "POST",
    path: "/v1/backups/:id/download-url",
    summary: "Ask for a URL to download a ciphertext from",
    action: "backup.download",
    answers: { 200: DownloadUrl },
    errors: ["conflict"],
    credential: "agent",
    params: Type.Object({ id: Id("backup") }),
    rateLimits: ["default"],
    async prepare(call) {
      const { principal, params } = call;
      const backup = await readInOrg(db, principal.orgId, async (tx) => {
        const found = await findBackup(tx, principal.orgId, params.id);
        if (found === null) throw notFound("backup");
        if (!(await isAgentOf(tx, found.source_id, principal.id)))
          throw new ApiError(
            "forbidden",
            "This agent neither makes nor tests the backups of that source. In the source's settings in the dashboard, an owner or admin can make it the one that does.",
          );
        return found;
      });
      if (backup.status === "expired")
        throw new ApiError(
          "conflict",
          "This backup has expired: its ciphertext was removed by the retention rules.",
        );
      const get = await withObjectStore(call, () =>
        objects.presignGet({ key: backup.object_key, expiresInSeconds: PRESIGNED_URL_S }),
      );
      return {
        download_url: get.url,
        expires_at: get.expiresAt.toISOString(),
        backup: downloadedBackup(backup),
      };
    },
    handle: (_call, _tx, body) => Promise.resolve({ status: 200, body }),
  });

  const kept = readRoute({
    method: "GET",
    path: "/v1/sources/:id/backups",
    summary: "List the backups of a source that are kept, oldest first",
    action: "backup.download",
    answers: { 200: KeptBackups },
    errors: ["not_found"],
    credential: "agent",
    params: Type.Object({ id: Id("source") }),
    query: Type.Object({ cursor: Type.Optional(Id("backup")) }, { additionalProperties: false }),
    rateLimits: ["default"],
    async handle({ principal, params, query }) {
      const body = await readInOrg(db, principal.orgId, async (tx) => {
        if ((await findSource(tx, principal.orgId, params.id)) === null) throw notFound("source");
        if (!(await isAgentOf(tx, params.id, principal.id)))
          throw new ApiError(
            "forbidden",
            "This agent neither makes nor tests the backups of that source. In the source's settings in the dashboard, an owner or admin can make it the one that does.",
          );
        return listKept(tx, params.id, { after: query.cursor ?? "", limit: MAX_KEPT });
      });
      return { status: 200, body };
    },
  });

  return [uploadUrl, register, downloadUrl, kept];
}
