import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { findLink, setLinkRevoked, type AuditorLink } from "./store.ts";

/**
 * Revokes a link and at once ends every session that it opened. Throws `not_found` and `conflict`.
 */
export async function revokeLink(
  tx: DatabaseTransaction,
  { orgId, id, actorId }: { orgId: string; id: string; actorId: string },
): Promise<AuditorLink> {
  const at = new Date();
  const link = await setLinkRevoked(tx, { orgId, id, at });
  if (link === null) {
    const found = await findLink(tx, id);
    if (found === null || found.org_id !== orgId) throw notFound("auditor link");
    throw new ApiError("conflict", "This link is already revoked.");
  }
  await appendInTransaction(tx, [
    {
      orgId,
      kind: "auditor_link_revoked",
      actorId,
      occurredAt: at,
      detail: { auditor_link_id: link.id, name: link.name },
    },
  ]);
  return link;
}
