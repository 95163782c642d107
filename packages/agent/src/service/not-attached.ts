import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { UserError } from "../errors/user-error.ts";
import type { Layout } from "../state/layout.ts";

/**
 * Of a config.yaml without service or agent. Keys beside it show that it lost them: a new `init`
 * would make another agent, and keep nothing of what the file said.
 */
export function notAttached(layout: Layout, config: Pick<Config, "service">): UserError {
  const lacks = `${layout.config} names no ${config.service === null ? "service" : "agent"}`;
  if (existsSync(layout.publicKey))
    return new UserError(
      "not_attached",
      `${lacks}, although this root has an agent's key. Put a copy of ${layout.config} back; ` +
        "only if `attestore init` was interrupted, run that again.",
    );
  return new UserError(
    "not_attached",
    `${lacks}: this host is not attached. Run \`attestore init --service URL\`, or \`attestore init --standalone\`.`,
  );
}
