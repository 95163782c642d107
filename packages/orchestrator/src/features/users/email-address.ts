import { invalidRequest } from "../../platform/errors/api-error.ts";

/**
 * One `@`, something on both sides, no white space. Only a mail shows whether the address exists.
 */
const EMAIL = /^[^\s@]{1,64}@[^\s@.]+(\.[^\s@.]+)*$/;
const MAX_EMAIL = 254;

/** For addresses that no schema has checked. Throws `invalid_request`. */
export function assertEmailAddress(email: string): void {
  if (email.length > MAX_EMAIL || !EMAIL.test(email))
    throw invalidRequest(`"${email.slice(0, MAX_EMAIL)}" is not an e-mail address.`, [
      { path: "/email", message: "is not an e-mail address" },
    ]);
}
