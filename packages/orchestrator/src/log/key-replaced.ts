import { ApiError } from "../platform/errors/api-error.ts";

/**
 * An entry was verified with a key that its agent replaced before it was placed: what is known of the agent may be some seconds old.
 * Whoever verifies it anew learns which key counts.
 */
export class KeyReplaced extends ApiError {
  constructor() {
    super("unavailable", "The agent's key was replaced a moment ago: submit it again.");
  }
}
