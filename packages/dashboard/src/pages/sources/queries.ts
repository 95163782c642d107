import type { TimelineItem } from "@attestore/contract";
import type { Schemas } from "@attestore/contract/client";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { pagedQuery, pageOf } from "../../api/paged-query.ts";

export type { TimelineItem };
export type Source = Schemas["SourceRecord"];
export type SourceDetail = Schemas["SourceDetail"];
export type Incident = Schemas["IncidentRecord"];
export type TimelineTopic = Schemas["TimelineTopic"];
export type Drift = Schemas["DriftIndicator"];
export type RestoreTest = Schemas["RestoreTestRecord"];
export type Retention = Schemas["Retention"];
export type Agent = Schemas["AgentRecord"];

/** All queries about one source are under this key. */
const keyOf = (orgID: string, sourceID: string) => ["orgs", orgID, "sources", sourceID] as const;

export function sourceQuery(orgID: string, sourceID: string) {
  return queryOptions({
    queryKey: keyOf(orgID, sourceID),
    queryFn: async () =>
      (await api.call("get", "/api/orgs/{orgID}/sources/{sourceID}", { path: { orgID, sourceID } })).body,
  });
}

export function timelineQuery(orgID: string, sourceID: string, topic: TimelineTopic | undefined) {
  return pagedQuery(
    [...keyOf(orgID, sourceID), "timeline", topic ?? "all"],
    async (cursor) =>
      (
        await api.call("get", "/api/orgs/{orgID}/sources/{sourceID}/timeline", {
          path: { orgID, sourceID },
          query: { ...pageOf(cursor), ...(topic === undefined ? {} : { topic }) },
        })
      ).body,
  );
}

export function driftQuery(orgID: string, sourceID: string) {
  return pagedQuery(
    [...keyOf(orgID, sourceID), "drift"],
    async (cursor) =>
      (
        await api.call("get", "/api/orgs/{orgID}/sources/{sourceID}/drift", {
          path: { orgID, sourceID },
          query: pageOf(cursor, 100),
        })
      ).body,
  );
}

export function restoreTestsQuery(orgID: string, sourceID: string) {
  return pagedQuery(
    [...keyOf(orgID, sourceID), "restore-tests"],
    async (cursor) =>
      (
        await api.call("get", "/api/orgs/{orgID}/sources/{sourceID}/restore-tests", {
          path: { orgID, sourceID },
          // A month of nightly tests.
          query: pageOf(cursor, 31),
        })
      ).body,
  );
}

/** A source's newest commands, refetched often while one is running. */
export function recentCommandsQuery(orgID: string, sourceID: string) {
  return queryOptions({
    queryKey: [...keyOf(orgID, sourceID), "commands"],
    queryFn: async () =>
      (
        await api.call("get", "/api/orgs/{orgID}/commands", {
          path: { orgID },
          query: { source_id: sourceID, limit: "20" },
        })
      ).body.items,
  });
}

export function retentionPreviewQuery(orgID: string, sourceID: string, rules: Retention) {
  return pagedQuery([...keyOf(orgID, sourceID), "retention-preview", rules], async (cursor) => {
    const query = Object.fromEntries(Object.entries(rules).map(([rule, count]) => [rule, String(count)]));
    const path = { orgID, sourceID };
    return (
      await api.call("get", "/api/orgs/{orgID}/sources/{sourceID}/retention-preview", {
        path,
        query: { ...pageOf(cursor, 200), ...query },
      })
    ).body;
  });
}

export interface ScheduleDraft {
  backup_cron: string;
  restore_test_cron: string;
  timezone: string;
}

export function schedulePreviewQuery(orgID: string, draft: ScheduleDraft) {
  return queryOptions({
    queryKey: ["orgs", orgID, "schedule-preview", draft],
    queryFn: async () => {
      const query = Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== ""));
      return (await api.call("get", "/api/orgs/{orgID}/schedule-preview", { path: { orgID }, query })).body;
    },
    refetchInterval: false,
  });
}

export function backupQuery(backupID: string) {
  return queryOptions({
    queryKey: ["backups", backupID],
    queryFn: async () => (await api.call("get", "/api/backups/{backupID}", { path: { backupID } })).body,
    // A backup's metadata never changes.
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
  });
}
