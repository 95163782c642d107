import { UserError } from "../../errors/user-error.ts";

/** What was asked is not offered, too old, or there already. */
export function refused(message: string): UserError {
  return new UserError("request_refused", message);
}
