import type { ErrorCode } from "@attestore/contract";
import type { Route } from "../http/route/route.ts";

/** Every error that a route can be answered with: those that follow from its form, and its own. */
export function errorCodesOf(route: Route): ErrorCode[] {
  const codes: ErrorCode[] = ["invalid_request", "internal", "unavailable"];
  if (route.rateLimits.length > 0) codes.push("rate_limited");
  if (route.params !== undefined) codes.push("not_found");
  // Even a body that nobody asked for is read, and refused.
  codes.push("invalid_json", "payload_too_large", "unsupported_media_type");
  if (route.mode === "write" || route.mode === "submit")
    codes.push("invalid_idempotency_key", "idempotency_key_reused", "idempotency_in_progress");
  switch (route.credential) {
    case "agent":
      codes.push("unauthenticated", "agent_revoked", "forbidden");
      break;
    case "user":
    case "session":
      codes.push("unauthenticated", "session_expired", "forbidden");
      break;
    case "auth_key":
      codes.push("unauthenticated", "auth_key_invalid", "auth_key_burned");
      break;
    case "anonymous":
      break;
  }
  return [...new Set([...codes, ...(route.errors ?? [])])];
}
