import { ServiceError } from "../../transport/service-error.ts";

/**
 * Each time takes a minute or two. Together they make some hours, which is enough to read the
 * largest possible object.
 */
const TIMES = 250;

/**
 * Repeats a registration for as long as the service says that it is still reading the object. It
 * reads whatever the object store does not vouch for, which takes longer than one answer may.
 */
export async function whileVerifying<Result>(register: () => Promise<Result>): Promise<Result> {
  for (let time = 1; ; time++) {
    try {
      return await register();
    } catch (error) {
      const verifying = error instanceof ServiceError && error.refusal?.details["verifying"] === true;
      if (!verifying || time >= TIMES) throw error;
    }
  }
}
