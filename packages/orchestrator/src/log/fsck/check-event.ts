import {
  canonicalJson,
  envelopeFromJson,
  parseJson,
  ProofError,
  requireEventLeaf,
  sha256,
  toHex,
  utf8,
  type JsonObject,
  type LoggedEvent,
} from "@attestore/proof";
import { envelopeSha256 } from "../envelope-sha256.ts";
import { plainArray } from "../../platform/database/packed.ts";
import type { SqlSession, PreparedQuery } from "../../platform/database/sql-session.ts";
import type { Check, ParsedLeaf } from "./check.ts";
import { compareFields } from "./compare-fields.ts";

interface EventRow {
  id: string;
  org_id: string;
  kind: string;
  source_id: string | null;
  backup_id: string | null;
  command_id: string | null;
  actor_id: string;
  occurred_at: Date;
  body: Buffer;
  log_index: number;
  leaf_hash: Buffer;
  created_at: Date;
  envelope: Buffer | null;
  envelope_sha256: Buffer | null;
  payload_sha256: Buffer | null;
  previous_receipt_sha256: Buffer | null;
}

const EVENTS: PreparedQuery = {
  name: "fsck_events",
  text: `select id, org_id, kind, source_id, backup_id, command_id, actor_id, occurred_at, body, log_index, leaf_hash,
      created_at, envelope, envelope_sha256, payload_sha256, previous_receipt_sha256 from events where id = any($1::text[])`,
};

export async function readEvents(
  session: SqlSession,
  ids: readonly string[],
): Promise<Map<string, EventRow>> {
  const rows = await session.run<EventRow & Record<string, unknown>>(EVENTS, [plainArray(ids)]);
  return new Map(rows.map((row) => [row.id, row]));
}

export function checkEvent({ report }: Check, { row, leaf }: ParsedLeaf, event: EventRow | undefined): void {
  if (event === undefined)
    return report("entry_missing", `leaf ${row.log_index} refers to ${leaf.id}, which is missing`);
  const body = readBody(event.body);
  if (body === null) return report("entry_differs", `${event.id} has a body that is not canonical JSON`);
  compareFields(report, event.id, {
    org_id: [event.org_id, leaf.org_id],
    kind: [event.kind, leaf.kind],
    actor_id: [event.actor_id, leaf.actor_id],
    log_index: [event.log_index, row.log_index],
    leaf_hash: [toHex(event.leaf_hash), toHex(row.leaf_hash)],
    created_at: [event.created_at.toISOString(), leaf.recorded_at],
    ...(event.envelope === null
      ? { body: [toHex(sha256(event.body)), leaf.body_sha256], signature: [null, leaf.signature ?? null] }
      : {}),
    source_id: [event.source_id, body["source_id"] ?? null],
    backup_id: [event.backup_id, body["backup_id"] ?? null],
    command_id: [event.command_id, body["command_id"] ?? null],
    occurred_at: [event.occurred_at.toISOString(), body["occurred_at"]],
    id: [event.id, leaf.id],
    kind_in_body: [event.kind, body["kind"]],
  });
  if (event.envelope === null) return;
  try {
    const json = JSON.parse(event.envelope.toString("utf8")) as Parameters<typeof requireEventLeaf>[2];
    const signed = requireEventLeaf(leaf, body as unknown as LoggedEvent, json);
    const envelope = envelopeFromJson(json);
    compareFields(report, event.id, {
      payload_sha256: [event.payload_sha256?.toString("hex"), toHex(sha256(envelope.payload))],
      envelope_sha256: [
        event.envelope_sha256?.toString("hex"),
        envelopeSha256(sha256(envelope.payload), envelope).toString("hex"),
      ],
      previous_receipt_sha256: [
        event.previous_receipt_sha256?.toString("hex") ?? null,
        signed?.previous_receipt_sha256,
      ],
    });
  } catch (error) {
    if (!(error instanceof ProofError || error instanceof SyntaxError)) throw error;
    report("entry_differs", `${event.id}: ${error.message}`);
  }
}

function readBody(bytes: Buffer): JsonObject | null {
  try {
    const value = parseJson(bytes);
    const isCanonical = Buffer.from(utf8(canonicalJson(value))).equals(bytes);
    return isCanonical && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch (error) {
    if (error instanceof ProofError) return null;
    throw error;
  }
}
