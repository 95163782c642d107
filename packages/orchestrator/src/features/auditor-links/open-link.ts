import { AUDITOR_LINK } from "@attestore/contract";
import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { ApiError } from "../../platform/errors/api-error.ts";
import { scopeToOrg } from "../../platform/database/org-scope.ts";
import { type StartedSession, startLinkSession } from "../sessions/start-session.ts";
import { takeOpening, type AuditorLink } from "./store.ts";

/**
 * Exchanges a link's secret for a session, as often as somebody opens it, and logs each time.
 * Throws `unauthenticated`, with the same answer for an unknown secret, a revoked link and an
 * expired one.
 */
export async function openLink(
  tx: DatabaseTransaction,
  { secret, address }: { secret: string; address: string },
): Promise<{ link: AuditorLink; session: StartedSession }> {
  const link = AUDITOR_LINK.test(secret) ? await takeOpening(tx, credentialHash(secret)) : null;
  if (link === null)
    throw new ApiError(
      "unauthenticated",
      "This link does not work: it is incomplete, revoked or expired. Ask whoever sent it for a new one.",
    );
  await scopeToOrg(tx, link.org_id);
  const session = await startLinkSession(tx, link);
  // Last, because it keeps the log locked until the commit.
  await appendInTransaction(tx, [
    {
      orgId: link.org_id,
      kind: "auditor_link_opened",
      actorId: link.id,
      occurredAt: new Date(),
      detail: { auditor_link_id: link.id, name: link.name, address },
    },
  ]);
  return { link, session };
}
