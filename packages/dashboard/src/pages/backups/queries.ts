import { CallRefused, type Schemas } from "@attestore/contract/client";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { periodOf } from "../../api/day.ts";
import { pagedQuery, pageOf } from "../../api/paged-query.ts";
import type { BackupSearch } from "./search-params.ts";

export type Backup = Schemas["BackupRecord"];

export function backupListQuery(orgID: string, search: BackupSearch) {
  return pagedQuery(["orgs", orgID, "backups", "list", search], async (cursor) => {
    const { from: _from, to: _to, ...filter } = search;
    const query = { ...pageOf(cursor), ...filter, ...periodOf(search) };
    return (await api.call("get", "/api/orgs/{orgID}/backups", { path: { orgID }, query })).body;
  });
}

export function backupQuery(orgID: string, backupID: string) {
  return queryOptions({
    queryKey: ["orgs", orgID, "backups", "one", backupID],
    queryFn: async () => (await api.call("get", "/api/backups/{backupID}", { path: { backupID } })).body,
  });
}

/**
 * Why a backup is kept, or that it will be removed; null if its source was removed, so that no
 * rules apply.
 */
export function retentionQuery(orgID: string, { id, source_id: sourceID }: Backup) {
  return queryOptions({
    queryKey: ["orgs", orgID, "backups", "one", id, "retention"],
    queryFn: async () => {
      try {
        const path = { orgID, sourceID };
        const query = { backup_id: id };
        return (
          await api.call("get", "/api/orgs/{orgID}/sources/{sourceID}/retention-preview", { path, query })
        ).body;
      } catch (error) {
        if (error instanceof CallRefused && error.status === 404) return null;
        throw error;
      }
    },
  });
}
