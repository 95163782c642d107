import type { PrincipalKind } from "./principal.ts";

/** The one table of who may do what. A route names its action; nothing else decides. */
export const POLICY = {
  "heartbeat.send": ["agent"],
  "backup.upload": ["agent"],
  "backup.register": ["agent"],
  "backup.download": ["agent"],
  "receipt.submit": ["agent"],
  "event.submit": ["agent"],
  "log.read": ["agent"],
  "attach.with_key": ["auth_key"],
  "attach.start": ["anonymous"],
  "attach.poll": ["anonymous"],
} as const satisfies Record<string, readonly PrincipalKind[]>;

export type Action = keyof typeof POLICY;

export function mayDo(kind: PrincipalKind, action: Action): boolean {
  const allowed: readonly PrincipalKind[] = POLICY[action];
  return allowed.includes(kind);
}
