import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { ImpersonatedCall } from "../../platform/http/api-log/log-impersonated-calls.ts";
import { scopeToOrg } from "../../platform/database/org-scope.ts";

/**
 * Writes one `impersonation_call` to the organisation's log, with the operator as its actor. From
 * here on the transaction belongs to that organisation.
 */
export async function appendImpersonatedCall(tx: DatabaseTransaction, call: ImpersonatedCall): Promise<void> {
  await scopeToOrg(tx, call.orgId);
  await appendInTransaction(tx, [
    {
      orgId: call.orgId,
      kind: "impersonation_call",
      actorId: call.operatorId,
      occurredAt: new Date(),
      detail: call.detail,
    },
  ]);
}
