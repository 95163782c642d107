import { appendInTransaction } from "../../log/append-in-transaction.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import type { ImpersonatedCall } from "../../platform/http/impersonation.ts";
import { scopeToOrg } from "../../platform/database/org-scope.ts";

/**
 * One `impersonation_call` in the organisation's log; the operator is its actor. From here on the
 * transaction is about that organisation.
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
