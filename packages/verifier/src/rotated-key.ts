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

/** The key that a receipt is held against, and the one that whoever asks gave and that leads to it. */
export interface ChosenKey extends TrustedKey {
  pinned: PinnedKey;
}

/**
 * The key to hold a receipt against: of those that were given and that rotations lead to from one of them, the one that its envelope names;
 * else the first one. What it names is not signed, and only ever chooses among keys that are trusted. Null where none was given.
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
      // Of thousands of keys only those that rotations are of lead anywhere.
      if (rotations.length === 0 && each.fingerprint !== wanted) continue;
      const key = keysLedTo(each.publicKey, rotations).find(({ fingerprint }) => fingerprint === wanted);
      if (key !== undefined) return { ...key, pinned: each };
    }
  return null;
}

/** That a key which was given as one agent's signed for that agent. Null where it was given for any. */
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
