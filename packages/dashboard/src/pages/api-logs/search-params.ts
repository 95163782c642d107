import { dayIn } from "../../api/day.ts";
import { oneOf, present, textIn } from "../../api/search-params.ts";

export const ACTOR_KINDS = [
  "user",
  "agent",
  "operator",
  "auth_key",
  "anonymous",
  "console",
  "auditor_link",
] as const;
export const METHODS = ["GET", "POST", "PATCH", "DELETE", "RUN"] as const;

/** The filter of the list of API calls. */
export function readApiLogSearch(search: Record<string, unknown>) {
  const status =
    textIn(search["status"], 3) ??
    (typeof search["status"] === "number" ? String(search["status"]) : undefined);
  return present({
    kind: oneOf(search["kind"], ACTOR_KINDS),
    actor_id: textIn(search["actor_id"]),
    method: oneOf(search["method"], METHODS),
    status: status !== undefined && /^[1-5]\d\d$/.test(status) ? status : undefined,
    from: dayIn(search["from"]),
    to: dayIn(search["to"]),
  });
}

export type ApiLogSearch = ReturnType<typeof readApiLogSearch>;
