import type { CheckOutcome } from "@attestore/proof";
import { presentCheck, type ToBePresent } from "./present-check.ts";

/** Every role that the backup's metadata name exists. Null if they name none. */
export function rolesPresentCheck(roles: ToBePresent): CheckOutcome | null {
  return presentCheck("roles", roles);
}
