import {
  countsAt,
  type KeyRotation,
  keysLedTo,
  type PublicKey,
  type Receipt,
  sshFingerprint,
  type Statement,
  type TrustedKey,
} from "@attestore/proof";
import type { CheckedLine } from "./outcome.ts";

/**
 * The key to hold a receipt against: of those that rotations lead to from the trusted one, the one that its envelope names. What it
 * names is not signed, and only ever chooses among keys that are trusted.
 */
export function keyFor(receipt: Receipt, trusted: PublicKey, rotations: readonly KeyRotation[]): TrustedKey {
  const fingerprint = sshFingerprint(trusted);
  const keys = keysLedTo(trusted, rotations);
  const { keyid } = "bundle" in receipt ? receipt.bundle.envelope.signatures[0] : receipt.envelope;
  const named = keys.find((key) => key.fingerprint === keyid);
  return (
    named ??
    keys.find((key) => key.fingerprint === fingerprint) ?? {
      publicKey: trusted,
      fingerprint,
      replacedAt: null,
    }
  );
}

/** Whether a receipt that is true under the key may have been signed with it: in its time, by the agent whose rotations they are. */
export function rotationLine(
  { publicKey, fingerprint, replacedAt }: TrustedKey,
  rotations: readonly KeyRotation[],
  { predicate }: Statement,
): CheckedLine {
  const line = (result: "held" | "failed", detail: string): CheckedLine => ({
    id: "rotation",
    title: "key in use when the run ended",
    result,
    detail,
    hint: null,
  });
  const led = new Set(keysLedTo(publicKey, rotations).map((key) => key.fingerprint));
  const stranger = rotations.find(
    ({ orgId, agentId, before }) =>
      led.has(sshFingerprint(before)) && (orgId !== predicate.org_id || agentId !== predicate.agent_id),
  );
  if (stranger !== undefined)
    return line("failed", `the receipt is of ${predicate.agent_id}, a rotation of ${stranger.agentId}`);
  if (countsAt({ replacedAt }, predicate.finished_at))
    return line("held", replacedAt === null ? fingerprint : `${fingerprint}, replaced at ${replacedAt}`);
  return line(
    "failed",
    `${fingerprint} was replaced at ${replacedAt}, and the run ended at ${predicate.finished_at}`,
  );
}
