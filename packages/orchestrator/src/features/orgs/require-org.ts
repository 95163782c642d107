import type { OrgRecord } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import { notFound } from "../../platform/errors/api-error.ts";
import { serializeOrg } from "./serialize.ts";
import { findOrg, type Org } from "./store.ts";

/** Throws `not_found`. */
export async function requireOrg(db: Database, id: string): Promise<Org> {
  const org = await findOrg(db, id);
  if (org === null) throw notFound("organisation");
  return org;
}

/** A person's organisation; null for an operator. */
export async function orgRecord(db: Database, id: string | null): Promise<OrgRecord | null> {
  return id === null ? null : serializeOrg(await requireOrg(db, id));
}
