/** Who makes a call, as its credential shows. `credential` is SHA-256 of the secret, or of the address where there is none. */
export type Principal = AgentPrincipal | AuthKeyPrincipal | AnonymousPrincipal;

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

export interface AnonymousPrincipal {
  kind: "anonymous";
  credential: Buffer;
}

export type PrincipalKind = Principal["kind"];
export type PrincipalOf<Kind extends PrincipalKind> = Extract<Principal, { kind: Kind }>;

/** The record that a call is about to be attributed to, known even where the credential is then refused. */
export interface Subject {
  kind: PrincipalKind;
  id: string | null;
  orgId: string | null;
}

export function subjectOf(principal: Principal): Subject {
  if (principal.kind === "anonymous") return { kind: principal.kind, id: null, orgId: null };
  return { kind: principal.kind, id: principal.id, orgId: principal.orgId };
}
