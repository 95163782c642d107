import { lstatSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../errors/user-error.ts";
import { HandOver } from "./hand-over.ts";

/** Missing from Node's types. */
type Initgroups = (user: number, extraGroup: number) => void;

/**
 * If root calls, becomes the owner of a root that belongs to somebody else, for good. The service
 * could not read what root would write there, and root can reach things that the service's runs
 * can't. Uses the owner's groups.
 * @param output the file that root asks for: absolute, or null
 * @returns how that file gets to its place; null if root need not put it there
 * @throws UserError `root_untrusted`
 */
export function becomeOwner(directory: string, output: string | null): HandOver | null {
  if (process.geteuid?.() !== 0) return null;
  const owner = ownerOf(directory);
  if (owner === null) return null;
  const { uid, gid } = owner;
  const handOver = output === null ? null : HandOver.begin(output, owner);
  try {
    const { initgroups } = process as { initgroups?: Initgroups };
    initgroups?.(uid, gid);
  } catch {
    // An owner without an account on this host is in no groups.
    process.setgroups?.([gid]);
  }
  process.setgid?.(gid);
  process.setuid?.(uid);
  return handOver;
}

const STICKY_FOR_GROUP = 0o1020;

/**
 * The package's root belongs to root, so that the service's user cannot replace its `env`; that
 * user works in it through its group. The owner of its keys' directory is that user, because no
 * other user can have put it there. Null if it is root itself.
 */
function ownerOf(directory: string): Stats | null {
  const whole = statSync(directory);
  if (whole.uid !== 0) return whole;
  if (whole.gid === 0 || (whole.mode & STICKY_FOR_GROUP) !== STICKY_FOR_GROUP) return null;
  const keys = lstatSync(join(directory, "keys"), { throwIfNoEntry: false });
  if (keys?.isDirectory() === true && keys.uid !== 0) return keys;
  throw new UserError(
    "root_untrusted",
    `${directory} is shared with a group, and has no directory keys that says whose it is: run /usr/lib/attestore/migrate as root`,
  );
}
