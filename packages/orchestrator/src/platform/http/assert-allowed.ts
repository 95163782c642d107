import { ApiError } from "./errors.ts";
import { type Action, mayDo } from "./policy.ts";
import type { Principal } from "./principal.ts";
import type { Route } from "./route.ts";

/**
 * Throws `forbidden` where the policy does not let somebody do this, the call is none for auditors' links, or an operator who acts as
 * somebody would change something: then nothing that a credential comes of can be made in a customer's name.
 */
export function assertAllowed(
  principal: Principal,
  { action, forAuditorLinks, mode }: Pick<Route, "action" | "forAuditorLinks" | "mode">,
): void {
  if (principal.kind === "user" && principal.impersonator !== null && changes(mode) && !ENDINGS.has(action))
    throw new ApiError(
      "forbidden",
      "An operator who acts as somebody can only read. End the impersonation (POST /api/auth/end-impersonate), and ask one of the organisation's people to do this.",
    );
  if (!mayDo(principal, action)) throw notAllowed(principal);
  if (principal.kind === "user" && principal.role === "reader" && forAuditorLinks !== true)
    throw notAllowed(principal);
}

/** What an operator who acts as somebody may do besides reading: be themselves again, or leave. */
const ENDINGS: ReadonlySet<Action> = new Set(["impersonation.end", "session.end"] as const);

/** An operator, also one who acts as somebody, whose session no passkey began. */
export function needsPasskey(principal: Principal): boolean {
  if (principal.kind !== "user") return false;
  const isOperator = principal.role === "operator" || principal.impersonator !== null;
  return isOperator && principal.signedIn.with !== "passkey";
}

function changes(mode: Route["mode"]): boolean {
  return mode === "write" || mode === "submit";
}

function notAllowed(principal: Principal): ApiError {
  if (principal.kind !== "user") return new ApiError("forbidden", "This credential does not allow this.");
  if (principal.role === "reader")
    return new ApiError(
      "forbidden",
      "An auditor's link shows what was proven in its period, and nothing else.",
    );
  if (principal.role === "operator")
    return new ApiError(
      "forbidden",
      "Operators see and change what is in an organisation only as one of its users: POST /api/auth/impersonate.",
    );
  return new ApiError("forbidden", `Your role, ${principal.role}, does not allow this.`);
}
