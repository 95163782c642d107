import type { SignInMethod } from "../../database/schema.ts";

/**
 * Who makes a call, according to its credential. `credential` is SHA-256 of the secret, or of the
 * address if there is none.
 */
export type Principal =
  | AgentPrincipal
  | AuthKeyPrincipal
  | UserPrincipal
  | AuditorLinkPrincipal
  | AnonymousPrincipal;

export interface AgentPrincipal {
  kind: "agent";
  id: string;
  orgId: string;
  name: string;
  /** 32 raw bytes (Ed25519) or 91 bytes of SubjectPublicKeyInfo (ECDSA P-256). */
  publicKey: Buffer;
  keyFingerprint: string;
  credential: Buffer;
}

export interface AuthKeyPrincipal {
  kind: "auth_key";
  id: string;
  orgId: string;
  credential: Buffer;
}

/**
 * `operator` belongs to the service itself and to no organisation; each of the others belongs to
 * one.
 */
export type UserRole = "owner" | "admin" | "auditor" | "operator";

/** From the first moment, inclusive, to the second, exclusive; null for an open end. */
export interface Period {
  from: Date | null;
  to: Date | null;
}

export const ALWAYS: Period = { from: null, to: null };

export interface UserPrincipal {
  kind: "user";
  id: string;
  /** Null for an operator, and only for an operator. */
  orgId: string | null;
  role: UserRole;
  email: string;
  name: string | null;
  credential: Buffer;
  /** When the session ends at the latest. */
  expiresAt: Date;
  /** When and how the session's holder signed in; for an impersonation, the operator. */
  signedIn: { at: Date; with: SignInMethod };
  /** The operator who acts as this user. */
  impersonator: Impersonator | null;
}

/** A person who opened an auditor link, and whom the service does not know. */
export interface AuditorLinkPrincipal {
  kind: "auditor_link";
  /** The link's id. */
  id: string;
  orgId: string;
  /** The period whose records the link shows. */
  within: Period;
  credential: Buffer;
  /** When the session ends at the latest. */
  expiresAt: Date;
}

/** Whose session it is. */
export type SessionPrincipal = UserPrincipal | AuditorLinkPrincipal;

export interface Impersonator {
  id: string;
  email: string;
  name: string | null;
  reason: string;
  /** SHA-256 of the token of the operator's own session. */
  session: Buffer;
}

export interface AnonymousPrincipal {
  kind: "anonymous";
  credential: Buffer;
}

export type PrincipalKind = Principal["kind"];

/**
 * The kinds of credential that a route may take. `user` is the session of a person; `session` also
 * that of an auditor link, for which the handler shows only what lies `within` the call's period.
 */
export type CredentialKind = Exclude<PrincipalKind, "auditor_link"> | "session";
export type PrincipalOf<Kind extends CredentialKind> = Kind extends "session"
  ? SessionPrincipal
  : Extract<Principal, { kind: Kind }>;

/** The record that a call is attributed to, known even if the credential is then refused. */
export interface Subject {
  kind: PrincipalKind | "operator";
  id: string | null;
  /** The organisation whose API log gets the call. */
  orgId: string | null;
  impersonatorId: string | null;
}

export const NOBODY: Subject = { kind: "anonymous", id: null, orgId: null, impersonatorId: null };

export function subjectOf(principal: Principal): Subject {
  if (principal.kind === "anonymous") return NOBODY;
  if (principal.kind !== "user")
    return { kind: principal.kind, id: principal.id, orgId: principal.orgId, impersonatorId: null };
  return {
    kind: principal.role === "operator" ? "operator" : "user",
    id: principal.id,
    orgId: principal.orgId,
    impersonatorId: principal.impersonator?.id ?? null,
  };
}
