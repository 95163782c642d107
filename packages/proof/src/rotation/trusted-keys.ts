import type { PublicKey } from "../keys/public-key.ts";
import { sshFingerprint } from "../keys/ssh.ts";
import type { KeyRotation } from "./key-rotation.ts";

/** A trusted key, or one that a trusted key's rotations lead to. */
export interface TrustedKey {
  publicKey: PublicKey;
  fingerprint: string;
  /**
   * When another key replaced it: runs signed with it ended no later. Null while the key is in use,
   * as far as is known.
   */
  replacedAt: string | null;
}

/**
 * Returns the keys of one agent that follow from a trusted key by its rotations, in both
 * directions: the old key vouched for the new one, and the new one for the old. Rotations that do
 * not connect to the trusted key are ignored.
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
    // If a key was rotated twice, the earlier rotation ended it.
    if (key !== undefined && (key.replacedAt === null || rotatedAt < key.replacedAt))
      key.replacedAt = rotatedAt;
  }
  return [...keys.values()];
}

/**
 * Whether the key may sign a run that ended at this time. Times are RFC 3339 in UTC with
 * milliseconds, so they sort as text.
 */
export function countsAt({ replacedAt }: Pick<TrustedKey, "replacedAt">, finishedAt: string): boolean {
  return replacedAt === null || finishedAt <= replacedAt;
}
