import type { Principal, PrincipalKind, UserRole } from "./principal.ts";

export type Actor = Exclude<PrincipalKind, "user"> | UserRole;

const READERS = ["owner", "admin", "auditor"] as const;
/** With those who opened an auditor's link: of their period, and only by calls that keep to it (route.ts). */
const WITH_LINKS = [...READERS, "reader"] as const;
const MANAGERS = ["owner", "admin"] as const;
const EVERYBODY = ["owner", "admin", "auditor", "operator"] as const;
const ALL_SESSIONS = [...EVERYBODY, "reader"] as const;

/**
 * The one table of who may do what. A route names its action; nothing else decides. Operators run the service: what is in an
 * organisation they see only as one of its users, by an impersonation, which the organisation's log tells of.
 */
export const POLICY = {
  "heartbeat.send": ["agent"],
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
