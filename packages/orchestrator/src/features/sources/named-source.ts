import { isId } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import { invalidRequest, notFound } from "../../platform/errors/api-error.ts";
import { findSourceByName, type Source } from "./store.ts";

/**
 * A source by its id, or by its slug in an organisation. Throws `not_found`, and `invalid_request`
 * for a slug without an organisation.
 */
export async function requireSource(db: Database, orgId: string | null, idOrSlug: string): Promise<Source> {
  if (orgId === null && !isId("source", idOrSlug))
    throw invalidRequest("Give the source's organisation, or name the source by its id.", []);
  const source = await findSourceByName(db, orgId, idOrSlug);
  if (source === null) throw notFound(`source as "${idOrSlug}"`);
  return source;
}
