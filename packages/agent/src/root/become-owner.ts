import { statSync } from "node:fs";

/** Missing from Node's types. */
type Initgroups = (user: number, extraGroup: number) => void;

/**
 * Works in a root of somebody else's as that somebody, for good, where the superuser calls: what root would write there the
 * service could not read, and what root can reach is not what the service's runs can. Groups are those of the owner.
 */
export function becomeOwner(directory: string): void {
  if (process.geteuid?.() !== 0) return;
  const { uid, gid } = statSync(directory);
  if (uid === 0) return;
  try {
    const { initgroups } = process as { initgroups?: Initgroups };
    initgroups?.(uid, gid);
  } catch {
    // An owner that this host has no account of is in no groups.
    process.setgroups?.([gid]);
  }
  process.setgid?.(gid);
  process.setuid?.(uid);
}
