import type { PublicKey } from "../keys/public-key.ts";
import { sshFingerprint } from "../keys/ssh.ts";
import type { KeyRotation } from "./key-rotation.ts";

/** A key that somebody trusts, or that one of those led to. */
export interface TrustedKey {
  publicKey: PublicKey;
  fingerprint: string;
  /** Another key took its place then: what it signed says that it ended no later. Null while it is in use, as far as is known. */
  replacedAt: string | null;
}

/**
 * The keys of one agent that follow from a trusted one by its rotations, forwards and backwards: the old key vouched for the new one, and
 * the new one for the old. Rotations that begin elsewhere lead nowhere and are left out.
 */
export function keysLedTo(trusted: PublicKey, rotations: readonly KeyRotation[]): TrustedKey[] {
  const keys = new Map<string, TrustedKey>();
  const reach = (publicKey: PublicKey): boolean => {
    const fingerprint = sshFingerprint(publicKey);
    if (keys.has(fingerprint)) return false;
    keys.set(fingerprint, { publicKey, fingerprint, replacedAt: null });
    return true;
  };
  reach(trusted);
  for (let grew = true; grew;) {
    grew = false;
    for (const { before, after } of rotations)
      if (keys.has(sshFingerprint(before)) || keys.has(sshFingerprint(after)))
        for (const key of [before, after]) grew = reach(key) || grew;
  }
  for (const { before, rotatedAt } of rotations) {
    const key = keys.get(sshFingerprint(before));
    // Two rotations of one key: the earlier one ended it.
    if (key !== undefined && (key.replacedAt === null || rotatedAt < key.replacedAt))
      key.replacedAt = rotatedAt;
  }
  return [...keys.values()];
}

/** Whether a run that ended then may be signed with the key: RFC 3339 in UTC with milliseconds, which sort as text. */
export function countsAt({ replacedAt }: Pick<TrustedKey, "replacedAt">, finishedAt: string): boolean {
  return replacedAt === null || finishedAt <= replacedAt;
}
