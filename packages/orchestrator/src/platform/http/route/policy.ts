import { ApiError } from "../../errors/api-error.ts";
import type { CredentialKind, Principal, PrincipalKind, UserRole } from "./principal.ts";

export type Actor = Exclude<PrincipalKind, "user"> | UserRole;

const READERS = ["owner", "admin", "auditor"] as const;
/** Also auditor links: for their period, and only for calls that take them (principal.ts). */
const WITH_LINKS = [...READERS, "auditor_link"] as const;
const MANAGERS = ["owner", "admin"] as const;
const EVERYBODY = ["owner", "admin", "auditor", "operator"] as const;
const ALL_SESSIONS = [...EVERYBODY, "auditor_link"] as const;

/**
 * The one table of who may do what. A route names its action; nothing else decides. Operators run
 * the service. They see an organisation's records only as one of its users, by impersonation, which
 * the organisation's log records.
 */
export const POLICY = {
  "heartbeat.send": ["agent"],
  "commands.wait": ["agent"],
  "commands.report": ["agent"],
  "config_requests.answer": ["agent"],
  "backup.upload": ["agent"],
  "backup.register": ["agent"],
  "backup.download": ["agent"],
  "receipt.submit": ["agent"],
  "event.submit": ["agent"],
  "log.read": ["agent"],
  "agent.rotate_key": ["agent"],
  "attach.with_key": ["auth_key"],
  "attach.start": ["anonymous"],
  "attach.poll": ["anonymous"],
  "session.start": ["anonymous"],
  "session.read": ALL_SESSIONS,
  "session.end": ALL_SESSIONS,
  "membership.read": EVERYBODY,
  "membership.change": EVERYBODY,
  "passkeys.read": EVERYBODY,
  "passkeys.manage": EVERYBODY,
  "org.leave": READERS,
  "impersonation.start": ["operator"],
  "impersonation.end": EVERYBODY,
  "service.read": ["anonymous"],
  "orgs.create": ["operator"],
  "orgs.list": EVERYBODY,
  "org.read": ALL_SESSIONS,
  "org.configure": MANAGERS,
  "quotas.read": EVERYBODY,
  "quotas.change": ["operator"],
  "users.read": EVERYBODY,
  "users.manage": MANAGERS,
  "agents.read": WITH_LINKS,
  "agents.manage": MANAGERS,
  "hosts.configure": MANAGERS,
  "auth_keys.read": READERS,
  "auth_keys.manage": MANAGERS,
  "attach.review": EVERYBODY,
  "attach.decide": ["owner", "admin", "operator"],
  "sources.read": WITH_LINKS,
  "sources.manage": MANAGERS,
  "sources.trigger": MANAGERS,
  "receipts.read": WITH_LINKS,
  "backups.read": WITH_LINKS,
  "backups.keep": MANAGERS,
  "ciphertext.download": READERS,
  "events.read": WITH_LINKS,
  "commands.read": READERS,
  "api_logs.read": READERS,
  "org_log.read": WITH_LINKS,
  "notifications.read": READERS,
  "notifications.manage": MANAGERS,
  "evidence.read": WITH_LINKS,
  "auditor_links.read": MANAGERS,
  "auditor_links.manage": MANAGERS,
  "auditor_link.open": ["anonymous"],
} as const satisfies Record<string, readonly Actor[]>;

export type Action = keyof typeof POLICY;

export function mayDo(principal: Principal, action: Action): boolean {
  const allowed: readonly Actor[] = POLICY[action];
  return allowed.includes(principal.kind === "user" ? principal.role : principal.kind);
}

/** The parts of a route that decide who may call it. */
interface Decided {
  action: Action;
  credential: CredentialKind;
  mode: "read" | "org_read" | "file" | "write" | "submit";
}

/**
 * Throws `passkey_required` if an operator's session was begun without one. Throws `forbidden` if
 * the policy does not allow this person the action, if auditor links can't make the call, or if an
 * operator who acts as somebody would change something: then no credential can be created in a
 * customer's name.
 */
export function assertAllowed(principal: Principal, { action, credential, mode }: Decided): void {
  if (needsPasskey(principal) && !WITHOUT_PASSKEY.has(action))
    throw new ApiError(
      "passkey_required",
      "An operator must sign in with a passkey to do this. Add one first (the dashboard's page Passkeys, or POST /api/auth/passkeys/options); if you have one, sign out and sign in with it.",
    );
  const changes = mode === "write" || mode === "submit";
  if (principal.kind === "user" && principal.impersonator !== null && changes && !ENDINGS.has(action))
    throw new ApiError(
      "forbidden",
      "An operator who acts as somebody can only read. End the impersonation (POST /api/auth/end-impersonate), and ask a member of the organisation to do this.",
    );
  if (!mayDo(principal, action)) throw notAllowed(principal);
  if (principal.kind === "auditor_link" && credential !== "session") throw notAllowed(principal);
}

/**
 * What an operator may do before that: add a passkey, see who they are, and sign out. Somebody who
 * reads their mail gets no further.
 */
const WITHOUT_PASSKEY: ReadonlySet<Action> = new Set([
  "passkeys.read",
  "passkeys.manage",
  "session.read",
  "session.end",
] as const);

/**
 * Besides reading, an operator who acts as somebody may become themselves again, or sign out.
 */
const ENDINGS: ReadonlySet<Action> = new Set(["impersonation.end", "session.end"] as const);

/** An operator, also one who acts as somebody, whose session was begun without a passkey. */
export function needsPasskey(principal: Principal): boolean {
  if (principal.kind !== "user") return false;
  const isOperator = principal.role === "operator" || principal.impersonator !== null;
  return isOperator && principal.signedIn.with !== "passkey";
}

function notAllowed(principal: Principal): ApiError {
  if (principal.kind === "auditor_link")
    return new ApiError("forbidden", "An auditor link only shows what was proven in its period.");
  if (principal.kind !== "user") return new ApiError("forbidden", "This credential does not allow this.");
  if (principal.role === "operator")
    return new ApiError(
      "forbidden",
      "Operators can see and change an organisation's data only as one of its users: POST /api/auth/impersonate.",
    );
  return new ApiError("forbidden", `Your role, ${principal.role}, does not allow this.`);
}
