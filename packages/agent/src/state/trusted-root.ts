import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { ResolvedRoot } from "./resolve-root.ts";
import { UserError } from "../errors/user-error.ts";

/** The package's root, which belongs to the service's user. */
export const SYSTEM_ROOT = "/var/lib/attestore";

/**
 * Refuses a root that was found, not named, if somebody else may have put it there. A config.yaml
 * in /tmp, or in a parent directory of another user, would tell us what to run and where to send
 * it. git's safe.directory does the same.
 * @throws UserError root_untrusted
 */
export function requireTrustedRoot(
  { path, branch }: ResolvedRoot,
  around: { readonly uid: number; readonly env: Readonly<Record<string, string | undefined>> },
): void {
  if (branch === "--root" || branch === "ATTESTORE_HOME" || branch === "/var/lib/attestore") return;
  const directory = lstatOf(path, true);
  if (directory === null || realpathSync(path) === SYSTEM_ROOT) return;
  // root also acts for whoever called sudo.
  const caller = around.uid === 0 ? Number(around.env["SUDO_UID"] ?? 0) : around.uid;
  const trusted = new Set([0, around.uid, caller]);
  const refuse = (what: string): never => {
    throw new UserError(
      "root_untrusted",
      `${what}, and ${path} was not named but found (${branch}): somebody else may have put it there. ` +
        `If it is meant, name it: --root ${path}`,
    );
  };
  if (!trusted.has(directory.uid)) refuse(`${path} belongs to another user (uid ${directory.uid})`);
  if ((directory.mode & 0o002) !== 0) refuse(`everybody may write to ${path}`);
  const config = lstatOf(join(path, "config.yaml"), false);
  if (config === null) return;
  if (!trusted.has(config.uid)) refuse(`${path}/config.yaml belongs to another user (uid ${config.uid})`);
  if (!config.isSymbolicLink() && (config.mode & 0o002) !== 0)
    refuse(`everybody may write to ${path}/config.yaml`);
}

function lstatOf(path: string, follow: boolean) {
  try {
    return lstatSync(follow ? realpathSync(path) : path);
  } catch {
    return null;
  }
}
