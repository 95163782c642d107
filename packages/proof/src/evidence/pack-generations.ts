import { anyObject, listOf, members, oneOf, requireKnownShape } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { MAX_GENERATION } from "../log/generation-name.ts";
import type { LostLogHead, Rollback } from "../log/rolled-back.ts";
import { sha256Hex } from "../shapes.ts";
import { serviceEventFromJson, type ServiceEventBundle } from "../log/service-event.ts";

/** Path in the ZIP of the generations of a log that lost entries; other packs have no such file. */
export const GENERATIONS_FILE = "log/generations.json";

/** How the log's later generations began, and which lost heads came to light since. */
export interface PackGenerations {
  v: 1;
  /** One for each generation from the second on, in their order. */
  began: {
    /** Its `log_rolled_back`, proven in the generation's first head. */
    event: ServiceEventBundle;
    /** Inclusion proof of the same entry in the pack's checkpoint, hex. */
    hashes: string[];
  }[];
  /** The `log_head_lost` events, proven in the pack's checkpoint. */
  lost: ServiceEventBundle[];
}

/** More than any log has. */
const MAX_LOST = 100_000;

const GENERATIONS = members({
  v: oneOf(1),
  began: listOf(members({ event: anyObject, hashes: listOf(sha256Hex, { max: 64 }) }), {
    min: 1,
    max: MAX_GENERATION,
  }),
  lost: listOf(anyObject, { max: MAX_LOST }),
});

/** Parses its form. Throws `malformed_*` or `unknown_version`. */
export function parsePackGenerations(source: Uint8Array): PackGenerations {
  const value = parseJson(source);
  requireKnownShape(value, GENERATIONS, "malformed_evidence", "the generations");
  const generations = value as unknown as PackGenerations;
  for (const { event } of generations.began) serviceEventFromJson(event);
  for (const event of generations.lost) serviceEventFromJson(event);
  return generations;
}

/** A later generation of the log, in a summary. */
export interface GenerationSummary {
  generation: number;
  event_id: string;
  at: string;
  /** How many entries were left. */
  entries_left: number;
  /** How many lost heads are named, by that event or later. */
  lost_heads: number;
  by: string;
  because: string;
}

/** One for each generation from the second on. `lost` are the heads that came to light later. */
export function generationSummaries(
  rollbacks: readonly Rollback[],
  lost: readonly LostLogHead[],
): GenerationSummary[] {
  return rollbacks.map(({ generation, eventId, at, size, by, because, ended, ...rollback }) => ({
    generation,
    event_id: eventId,
    at,
    entries_left: size,
    lost_heads: rollback.lost.length + lost.filter(({ origin }) => origin === ended).length,
    by,
    because,
  }));
}
