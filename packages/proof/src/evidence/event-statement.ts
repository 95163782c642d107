import { sha256 } from "#sha256";
import { utf8 } from "../bytes.ts";
import { toBase64 } from "../base64.ts";
import { envelopeFromJson, type Envelope, type EnvelopeJson } from "../dsse/envelope.ts";
import { toHex } from "../hex.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import {
  anyObject,
  listOf,
  members,
  nonEmptyText,
  nullOr,
  oneOf,
  requireKnownShape,
  requireShape,
} from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import type { Leaf } from "../log/leaf.ts";
import { ProofError } from "../proof-error.ts";
import { PAYLOAD_TYPE, PREDICATE_EVENT, STATEMENT_TYPE } from "../receipts/statement.ts";
import { sha256Hex, timestamp, typeId } from "../shapes.ts";

/**
 * An event as it was submitted. For an unsigned event, the leaf's `body_sha256` covers its RFC 8785
 * form.
 */
export interface LoggedEvent {
  kind: string;
  source_id?: string;
  backup_id?: string;
  command_id?: string;
  occurred_at: string;
  detail: Record<string, unknown>;
}

/** The event's own fields, the agent that signed it, and its place in that agent's chain. */
export interface EventPredicate extends LoggedEvent {
  org_id: string;
  agent_id: string;
  agent_version: string;
  /** SHA-256 (hex) of the payload of this agent's previous receipt or event; null for its first. */
  previous_receipt_sha256: string | null;
}

const EVENT = { kind: nonEmptyText, occurred_at: timestamp, detail: anyObject };
const ABOUT = { source_id: typeId("src"), backup_id: typeId("bkp"), command_id: typeId("cmd") };

/** The fields of `LoggedEvent`. */
export const EVENT_SHAPE = members(EVENT, ABOUT);

const STATEMENT = members({
  _type: oneOf(STATEMENT_TYPE),
  subject: listOf(members({ name: oneOf("event"), digest: members({ sha256: sha256Hex }) }), {
    min: 1,
    max: 1,
  }),
  predicateType: oneOf(PREDICATE_EVENT),
  predicate: members(
    {
      ...EVENT,
      org_id: typeId("org"),
      agent_id: typeId("agent"),
      agent_version: nonEmptyText,
      previous_receipt_sha256: nullOr(sha256Hex),
    },
    ABOUT,
  ),
});

/**
 * Returns the payload to sign: an in-toto statement in RFC 8785 form whose subject is the event's
 * fields. Throws ProofError if the value is not an event statement.
 */
export function formatEventStatement(predicate: EventPredicate): Uint8Array {
  const payload = utf8(
    canonicalJson({
      _type: STATEMENT_TYPE,
      subject: [{ name: "event", digest: { sha256: eventSha256(eventOf(predicate)) } }],
      predicateType: PREDICATE_EVENT,
      predicate,
    }),
  );
  parseEventStatement({ payloadType: PAYLOAD_TYPE, payload });
  return payload;
}

type Signed = Pick<Envelope, "payloadType" | "payload">;

/**
 * Parses what an agent signed about an event that is to be recorded. Does not verify the signature.
 * Throws `malformed_event`, `malformed_json` or `malformed_utf8`.
 */
export function parseEventStatement(envelope: Signed): EventPredicate {
  return statementOf(envelope, requireShape);
}

/**
 * Parses a recorded event for verification: members that a later version added are ignored. Does
 * not verify the signature. Throws `malformed_event`, `unknown_version`, `malformed_json` or
 * `malformed_utf8`.
 */
export function readEventStatement(envelope: Signed): EventPredicate {
  return statementOf(envelope, requireKnownShape);
}

function statementOf({ payloadType, payload }: Signed, require: typeof requireShape): EventPredicate {
  if (payloadType !== PAYLOAD_TYPE) throw malformed(`the payload's type is not ${PAYLOAD_TYPE}`);
  const value = parseJson(payload);
  require(value, STATEMENT, "malformed_event", "the event's statement");
  const { subject, predicate } = value as unknown as {
    subject: [{ digest: { sha256: string } }];
    predicate: EventPredicate;
  };
  if (subject[0].digest.sha256 !== eventSha256(eventOf(predicate)))
    throw malformed("its subject is not the event in the predicate");
  return predicate;
}

/** The fields that an unsigned submission has, without those that a signed statement adds. */
export function eventOf({
  kind,
  source_id,
  backup_id,
  command_id,
  occurred_at,
  detail,
}: LoggedEvent): LoggedEvent {
  return {
    kind,
    ...(source_id === undefined ? {} : { source_id }),
    ...(backup_id === undefined ? {} : { backup_id }),
    ...(command_id === undefined ? {} : { command_id }),
    occurred_at,
    detail,
  };
}

/**
 * Checks that a leaf covers this event: the envelope if it was signed, otherwise the event's own
 * bytes. Returns the signed statement, or null for an unsigned event. The caller must verify the
 * signature separately. Throws ProofError.
 */
export function requireEventLeaf(
  leaf: Leaf,
  event: LoggedEvent,
  envelopeJson: EnvelopeJson | undefined,
): EventPredicate | null {
  if (leaf.kind !== event.kind || !leaf.id.startsWith("evt_"))
    throw malformed("the leaf belongs to another event");
  if (envelopeJson === undefined) {
    if (leaf.signature !== undefined)
      throw malformed("its leaf has a signature, but the envelope is missing");
    if (leaf.body_sha256 !== eventSha256(event))
      throw malformed("the event is not the one that its leaf covers");
    return null;
  }
  const envelope = envelopeFromJson(envelopeJson);
  const signed = readEventStatement(envelope);
  const differences = [
    leaf.body_sha256 !== toHex(sha256(envelope.payload)) && "the leaf covers another payload",
    leaf.signature !== toBase64(envelope.signature) && "the leaf's signature is not the envelope's",
    leaf.org_id !== signed.org_id && "org_id is not the statement's",
    leaf.actor_id !== signed.agent_id && "actor_id is not the statement's agent",
    eventSha256(eventOf(event)) !== eventSha256(eventOf(signed)) &&
      "the event is not the one that was signed",
  ].filter((difference) => typeof difference === "string");
  if (differences.length > 0) throw malformed(differences.join("; "));
  return signed;
}

function eventSha256(event: LoggedEvent): string {
  return toHex(sha256(utf8(canonicalJson(event))));
}

function malformed(why: string): ProofError {
  return new ProofError("malformed_event", `the event is malformed: ${why}`);
}
