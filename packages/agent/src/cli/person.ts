import { userInfo } from "node:os";
import type { Call } from "./command.ts";

/** Who runs this command, as this host knows it: with sudo, the user who called it. */
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
