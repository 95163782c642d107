import { AUDITOR_LINK_DEFAULT_S, newId } from "@attestore/contract";
import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { invalidRequest } from "../../platform/errors/api-error.ts";
import { periodOf } from "../../platform/http/route/pagination.ts";
import { newAuditorLinkSecret } from "../secrets.ts";
import { insertLink, type AuditorLink } from "./store.ts";

export interface NewLink {
  orgId: string;
  name: string;
  /** RFC 3339, as the request had it. */
  from: string;
  to: string;
  expiresIn_s?: number | undefined;
  createdBy: string;
}

/**
 * Creates an auditor link and logs it. Only the caller gets the secret; it is stored nowhere.
 * Throws `invalid_request`.
 */
export async function createLink(
  tx: DatabaseTransaction,
  { orgId, name, from, to, expiresIn_s = AUDITOR_LINK_DEFAULT_S, createdBy }: NewLink,
): Promise<{ link: AuditorLink; secret: string }> {
  const period = periodOf({ from, to });
  if (period.from === null || period.to === null || period.from >= period.to)
    throw invalidRequest("The period is empty.", [{ path: "/to", message: "must be after from" }]);
  const secret = newAuditorLinkSecret();
  const now = Date.now();
  const link = await insertLink(tx, {
    id: newId("auditorLink", now),
    org_id: orgId,
    secret_sha256: credentialHash(secret),
    name,
    period_from: period.from,
    period_to: period.to,
    created_by: createdBy,
    created_at: new Date(now),
    expires_at: new Date(now + expiresIn_s * 1000),
  });
  await appendInTransaction(tx, [
    {
      orgId,
      kind: "auditor_link_created",
      actorId: createdBy,
      occurredAt: link.created_at,
      detail: {
        auditor_link_id: link.id,
        name,
        from: link.period_from.toISOString(),
        to: link.period_to.toISOString(),
        expires_at: link.expires_at.toISOString(),
      },
    },
  ]);
  return { link, secret };
}
