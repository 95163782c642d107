import { ApiError } from "../errors/api-error.ts";
import { type Action, mayDo } from "./policy.ts";
import type { Principal } from "./principal.ts";
import type { Route } from "./route.ts";

/**
 * Throws `passkey_required` where an operator's session was begun without one, and `forbidden` where the policy does not let somebody do this, the call is none for auditors' links, or an operator who acts as
 * somebody would change something: then nothing that a credential comes of can be made in a customer's name.
 */
export function assertAllowed(
  principal: Principal,
  { action, forAuditorLinks, mode }: Pick<Route, "action" | "forAuditorLinks" | "mode">,
): void {
  if (needsPasskey(principal) && !WITHOUT_PASSKEY.has(action))
    throw new ApiError(
      "passkey_required",
      "An operator must sign in with a passkey to do this. Add one first (the dashboard's page Passkeys, or POST /api/auth/passkeys/options); if you have one, sign out and sign in with it.",
    );
  if (principal.kind === "user" && principal.impersonator !== null && changes(mode) && !ENDINGS.has(action))
    throw new ApiError(
      "forbidden",
      "An operator who acts as somebody can only read. End the impersonation (POST /api/auth/end-impersonate), and ask a member of the organisation to do this.",
    );
  if (!mayDo(principal, action)) throw notAllowed(principal);
  if (principal.kind === "user" && principal.role === "reader" && forAuditorLinks !== true)
    throw notAllowed(principal);
}

/** What an operator may do before: have a passkey, see who they are, and leave. Whoever reads their mail gets no further. */
const WITHOUT_PASSKEY: ReadonlySet<Action> = new Set([
  "passkeys.read",
  "passkeys.manage",
  "session.read",
  "session.end",
] as const);

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
    return new ApiError("forbidden", "An auditor's link only shows what was proven in its period.");
  if (principal.role === "operator")
    return new ApiError(
      "forbidden",
      "Operators can see and change an organisation's data only as one of its users: POST /api/auth/impersonate.",
    );
  return new ApiError("forbidden", `Your role, ${principal.role}, does not allow this.`);
}
