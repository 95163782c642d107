import { serviceEventFromJson, type ServiceEventBundle } from "./service-event.ts";
import { anyObject, listOf, members, requireKnownShape } from "../json/shape.ts";
import { parseJson } from "../json/strict-json.ts";
import { MAX_GENERATION } from "./generation-name.ts";

/** The answer of `GET /v1/log/generations`. Verify it before you believe any of it. */
export interface LogGenerations {
  /** The `log_rolled_back` of each later generation, proven in that generation's first head. */
  began: ServiceEventBundle[];
  /** The `log_head_lost` events about heads of the requested size, proven in the newest head. */
  lost: ServiceEventBundle[];
}

const LOG_GENERATIONS = members({
  began: listOf(anyObject, { max: MAX_GENERATION }),
  lost: listOf(anyObject),
});

/** Throws `malformed_*`. */
export function parseLogGenerations(source: string | Uint8Array): LogGenerations {
  const value = parseJson(source);
  requireKnownShape(value, LOG_GENERATIONS, "malformed_log_proof", "the log's answer");
  const { began, lost } = value as { began: unknown[]; lost: unknown[] };
  return { began: began.map(serviceEventFromJson), lost: lost.map(serviceEventFromJson) };
}
