import { userInfo } from "node:os";

/** For messages about what this process may not read. */
export function agentsUser(): string {
  try {
    return userInfo().username;
  } catch {
    // No account has its number.
    return String(process.geteuid?.());
  }
}
