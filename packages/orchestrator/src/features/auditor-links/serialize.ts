import type { AuditorLinkRecord, AuditorLinkView } from "@attestore/contract";
import type { AuditorLink } from "./store.ts";

/** An auditor link as the API returns it. */
export function serializeLink(link: AuditorLink): AuditorLinkRecord {
  return {
    ...viewOf(link),
    created_at: link.created_at.toISOString(),
    org_id: link.org_id,
    created_by: link.created_by,
    openings: link.openings,
    last_opened_at: link.last_opened_at?.toISOString() ?? null,
    revoked_at: link.revoked_at?.toISOString() ?? null,
  };
}

/** The details that whoever opened it sees. */
export function viewOf({ id, name, period_from, period_to, expires_at }: AuditorLink): AuditorLinkView {
  return {
    id,
    name,
    from: period_from.toISOString(),
    to: period_to.toISOString(),
    expires_at: expires_at.toISOString(),
  };
}
