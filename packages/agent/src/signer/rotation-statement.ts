import {
  canonicalJson,
  publicKeyToSpki,
  sha256,
  STATEMENT_TYPE,
  toHex,
  utf8,
  type PublicKey,
} from "@attestore/proof";

export const PREDICATE_KEY_ROTATION = "https://attestore.dev/key-rotation/v1";

export interface Rotated {
  readonly agentId: string;
  readonly orgId: string;
  readonly at: string;
  /** Public halves: base64 of a signing key in an attach's form, or age recipients. */
  readonly change:
    | { readonly key: "signing"; readonly before: PublicKey; readonly after: PublicKey }
    | { readonly key: "encryption"; readonly before: readonly string[]; readonly after: readonly string[] };
}

/** The statement's bytes. The subject is the new public half. */
export function rotationStatement({ agentId, orgId, at, change }: Rotated): Uint8Array {
  const [subject, before, after] =
    change.key === "signing"
      ? [digestOf(publicKeyToSpki(change.after)), spki(change.before), spki(change.after)]
      : [digestOf(utf8(canonicalJson(change.after))), change.before, change.after];
  return utf8(
    canonicalJson({
      _type: STATEMENT_TYPE,
      subject: [{ name: `${change.key}-key`, digest: { sha256: subject } }],
      predicateType: PREDICATE_KEY_ROTATION,
      predicate: { org_id: orgId, agent_id: agentId, rotated_at: at, key: change.key, before, after },
    }),
  );
}

function digestOf(bytes: Uint8Array): string {
  return toHex(sha256(bytes));
}

function spki(key: PublicKey): string {
  return Buffer.from(publicKeyToSpki(key)).toString("base64");
}
