import { userInfo } from "node:os";
import type { Call } from "./command.ts";

/**
 * The person who runs this command, as far as this host knows. With sudo, it is the user who called
 * sudo.
 */
export function personOf({ env }: Call): string {
  const { SUDO_USER: caller } = env;
  if (caller !== undefined && caller !== "") return caller;
  try {
    return userInfo().username;
  } catch {
    // A user without an entry, as in a container.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
