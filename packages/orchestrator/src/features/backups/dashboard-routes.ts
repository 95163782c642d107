import { BackupRecord, DownloadUrl, Id, PRESIGNED_URL_S } from "@attestore/contract";
import { Type } from "@fastify/type-provider-typebox";
import type { Database } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import {
  idRange,
  isWithin,
  listOf,
  listQuery,
  paged,
  pageOf,
  period,
  periodOf,
} from "../../platform/http/route/pagination.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import { orgReadRoute, type Route, writeRoute } from "../../platform/http/route/route.ts";
import type { ObjectStore } from "../../platform/objects/object-store.ts";
import { listBackups } from "./queries.ts";
import { withObjectStore } from "./with-object-store.ts";
import { backupRecord } from "./serialize.ts";
import { findBackup } from "./store.ts";

/** Backups for people and their programs. */
export function backupReadingRoutes({ db, objects }: { db: Database; objects: ObjectStore }): Route[] {
  return [
    orgReadRoute({
      method: "GET",
      path: "/api/orgs/:orgID/backups",
      summary: "List backups",
      action: "backups.read",
      params: Type.Object({ orgID: Id("org") }),
      query: listQuery({
        ...period,
        source_id: Type.Optional(Id("source")),
        agent_id: Type.Optional(Id("agent")),
        status: Type.Optional(Type.Enum(["available", "expired"])),
      }),
      answers: { 200: listOf(BackupRecord) },
      rateLimits: ["default"],
      credential: "session",
      async handle({ orgId, query, within }, tx) {
        const page = pageOf("backup", query);
        const { before } = idRange("backup", page, { from: null, to: null });
        const rows = await listBackups(tx, orgId, query, { before, ...periodOf(query, within) }, page.limit);
        return { status: 200, body: paged(rows, page, backupRecord) };
      },
    }),
    orgReadRoute({
      method: "GET",
      path: "/api/backups/:backupID",
      summary: "Read one backup",
      action: "backups.read",
      params: Type.Object({ backupID: Id("backup") }),
      answers: { 200: BackupRecord },
      rateLimits: ["default"],
      credential: "session",
      async handle({ orgId, params, within }, tx) {
        const backup = await findBackup(tx, orgId, params.backupID);
        if (backup === null || !isWithin(within, backup.made_at)) throw notFound("backup");
        return { status: 200, body: backupRecord(backup) };
      },
    }),
    writeRoute({
      method: "POST",
      path: "/api/orgs/:orgID/backups/:backupID/download-url",
      summary: "Ask for a URL to download a ciphertext from, on a host without an agent",
      action: "ciphertext.download",
      credential: "user",
      params: Type.Object({ orgID: Id("org"), backupID: Id("backup") }),
      answers: { 200: DownloadUrl },
      errors: ["conflict"],
      rateLimits: ["default"],
      async prepare(call) {
        const backup = await readInOrg(db, call.params.orgID, (tx) =>
          findBackup(tx, call.params.orgID, call.params.backupID),
        );
        if (backup === null) throw notFound("backup");
        if (backup.status === "expired")
          throw new ApiError(
            "conflict",
            "This backup has expired: its ciphertext was removed by the retention rules.",
          );
        const get = await withObjectStore(call, () =>
          objects.presignGet({ key: backup.object_key, expiresInSeconds: PRESIGNED_URL_S }),
        );
        return { download_url: get.url, expires_at: get.expiresAt.toISOString() };
      },
      handle: (_call, _tx, body) => Promise.resolve({ status: 200, body }),
    }),
  ];
}
