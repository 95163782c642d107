import {
  countsAt,
  type KeyRotation,
  keysLedTo,
  type Receipt,
  sshFingerprint,
  type Statement,
  type TrustedKey,
} from "@attestore/proof";
import type { CheckedLine } from "./outcome.ts";
import type { PinnedKey } from "./pinned-key.ts";

/** The key that verifies a receipt, and the given key that leads to it. */
export interface ChosenKey extends TrustedKey {
  pinned: PinnedKey;
}

/**
 * Chooses the key that verifies a receipt: the one that its envelope names, among the given keys
 * and those that rotations lead to; otherwise the first one. The name is not signed, but it only
 * chooses among trusted keys. Null if no key was given.
 */
export function keyFor(
  receipt: Receipt,
  pinned: readonly PinnedKey[],
  rotations: readonly KeyRotation[],
): ChosenKey | null {
  const { keyid } = "bundle" in receipt ? receipt.bundle.envelope.signatures[0] : receipt.envelope;
  for (const isNamed of [true, false])
    for (const each of pinned) {
      const wanted = isNamed ? keyid : each.fingerprint;
      // Of thousands of keys, only those in a rotation lead to another.
      if (rotations.length === 0 && each.fingerprint !== wanted) continue;
      const key = keysLedTo(each.publicKey, rotations).find(({ fingerprint }) => fingerprint === wanted);
      if (key !== undefined) return { ...key, pinned: each };
    }
  return null;
}

/**
 * Checks that a key given for one agent signed for that agent. Null if the key was given for any
 * agent.
 */
export function agentLine({ pinned }: ChosenKey, { predicate }: Statement): CheckedLine | null {
  const { agentId, source } = pinned;
  if (agentId === null) return null;
  return {
    id: "agent",
    title: "agent that the key was given for",
    result: agentId === predicate.agent_id ? "held" : "failed",
    detail:
      agentId === predicate.agent_id
        ? agentId
        : `the receipt is from ${predicate.agent_id}, but the key is ${agentId}'s according to ${source.where}`,
    hint: null,
  };
}

/** Whether a valid receipt was signed by the right agent while the key was in use. */
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
    return line(
      "failed",
      `the receipt is from ${predicate.agent_id}, but a rotation is from ${stranger.agentId}`,
    );
  if (countsAt({ replacedAt }, predicate.finished_at))
    return line("held", replacedAt === null ? fingerprint : `${fingerprint}, replaced at ${replacedAt}`);
  return line(
    "failed",
    `${fingerprint} was replaced at ${replacedAt}, but the run ended at ${predicate.finished_at}`,
  );
}
