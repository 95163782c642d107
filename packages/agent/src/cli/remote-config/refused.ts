import { UserError } from "../../errors/user-error.ts";

/** The request is not offered, too old, or already carried out. */
export function refused(message: string): UserError {
  return new UserError("request_refused", message);
}
