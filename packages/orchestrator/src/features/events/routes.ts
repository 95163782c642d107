import {
  EventRequest,
  EventAccepted,
  MAX_EVENT_DETAIL_BYTES,
  MAX_EVENT_DETAIL_VALUES,
} from "@attestore/contract";
import { DRAW_DECLARED, isTimestamp, ProofError } from "@attestore/proof";
import { eventEntry, type SignedEvent } from "../../log/events/event-entry.ts";
import type { Database } from "../../platform/database/schema.ts";
import { requireWithin } from "../../platform/http/body/bounded-json.ts";
import { invalidRequest } from "../../platform/errors/api-error.ts";
import { readInOrg } from "../../platform/database/org-scope.ts";
import type { AgentPrincipal } from "../../platform/http/route/principal.ts";
import { submitRoute, type Route } from "../../platform/http/route/route.ts";
import { findSigningKey } from "../agents/signing-keys.ts";
import type { FindKey } from "../receipts/verify-submission.ts";
import { submitEntry, type Submissions } from "../submissions/submit-entry.ts";
import { agentEvents, type AgentEventEntry } from "./event-batch.ts";
import { verifySignedEvent } from "./verify-signed-event.ts";

const DETAIL = { bytes: MAX_EVENT_DETAIL_BYTES, values: MAX_EVENT_DETAIL_VALUES };

export function eventRoutes({ sequencer, db }: { sequencer: Submissions; db: Database }): Route[] {
  return [
    submitRoute({
      method: "POST",
      path: "/v1/events",
      summary: "Report an event",
      action: "event.submit",
      answers: { 201: EventAccepted },
      errors: ["not_found", "receipt_signature_invalid", "statement_invalid", "statement_mismatch"],
      credential: "agent",
      body: EventRequest,
      rateLimits: ["default"],
      async handle({ principal, body, rawBody }, record) {
        requireWithin("detail", body.detail, DETAIL);
        const findKey: FindKey = (agentId, fingerprint) =>
          readInOrg(db, principal.orgId, (tx) => findSigningKey(tx, agentId, fingerprint));
        const { envelope, ...event } = body;
        return submitEntry(
          { sequencer, kind: agentEvents, idField: "event_id" },
          record,
          rawBody.length,
          async (isStale) => {
            if (envelope === undefined) return agentEvent(principal, event, undefined);
            const { signed, signedWith } = await verifySignedEvent(principal, event, envelope, {
              findKey,
              isStale,
            });
            const entry = agentEvent(principal, event, signed);
            return signedWith === undefined ? entry : { ...entry, signedWith };
          },
        );
      },
    }),
  ];
}

/** Throws `invalid_request` for values that pass the schema but that the log cannot hold. */
function agentEvent(
  agent: AgentPrincipal,
  body: Omit<EventRequest, "envelope">,
  signed: SignedEvent | undefined,
): AgentEventEntry {
  const { kind, source_id, backup_id, command_id, occurred_at, detail } = body;
  if (!isTimestamp(occurred_at))
    throw invalidRequest("The event cannot be recorded.", [
      { path: "/occurred_at", message: "is not a timestamp" },
    ]);
  try {
    const event = eventEntry(
      {
        orgId: agent.orgId,
        kind,
        sourceId: source_id,
        backupId: backup_id,
        commandId: command_id,
        actorId: agent.id,
        occurredAt: new Date(occurred_at),
        detail,
      },
      new Date(),
      signed,
    );
    // The log's signature over the first head that covers the event decides the draw.
    return { ...event, agentId: agent.id, ...(kind === DRAW_DECLARED ? { endsBatch: true } : {}) };
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw invalidRequest("The event cannot be recorded.", [{ path: "/detail", message: error.message }]);
  }
}
