import type { OrgRecord } from "@attestore/contract";
import type { Org } from "./store.ts";

/** The record of an organisation as calls answer it. */
export function serializeOrg({ id, created_at, name, slug, public_log }: Org): OrgRecord {
  return { id, created_at: created_at.toISOString(), name, slug, public_log };
}
