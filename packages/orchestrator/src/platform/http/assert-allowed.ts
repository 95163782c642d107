import { ApiError } from "./errors.ts";
import { mayDo } from "./policy.ts";
import type { Principal } from "./principal.ts";
import type { Route } from "./route.ts";

/** Throws `forbidden` where the policy does not let somebody do this, or the call is none for auditors' links. */
export function assertAllowed(
  principal: Principal,
  { action, forAuditorLinks }: Pick<Route, "action" | "forAuditorLinks">,
): void {
  if (!mayDo(principal, action)) throw notAllowed(principal);
  if (principal.kind === "user" && principal.role === "reader" && forAuditorLinks !== true)
    throw notAllowed(principal);
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
