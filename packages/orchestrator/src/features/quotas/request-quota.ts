import type { Database } from "../../platform/database/schema.ts";
import type { QuotaDefaults } from "./settings.ts";
import { readLimits } from "./store.ts";

/** How long a replica uses a limit that it has read, in milliseconds. */
const KNOWN_MS = 5000;
const MAX_ORGS = 100_000;

/** How many calls an organisation may make in a window. Does not ask the database for each call. */
export function requestQuotas(
  db: Database,
  defaults: QuotaDefaults,
): (orgId: string) => Promise<number | null> {
  const known = new Map<string, { limit: Promise<number | null>; until: number }>();
  return (orgId) => {
    const found = known.get(orgId);
    if (found !== undefined && found.until > performance.now()) return found.limit;
    if (known.size >= MAX_ORGS) known.clear();
    const limit = readLimits(db, orgId, defaults).then(({ requests }) => requests);
    known.set(orgId, { limit, until: performance.now() + KNOWN_MS });
    limit.catch(() => known.delete(orgId));
    return limit;
  };
}
