import type { OrgRecord } from "@attestore/contract";
import type { Org } from "./store.ts";

/** An organisation as the API returns it. */
export function serializeOrg({ id, created_at, name, slug, public_log }: Org): OrgRecord {
  return { id, created_at: created_at.toISOString(), name, slug, public_log };
}
