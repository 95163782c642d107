import { AGENT_TOKEN } from "@attestore/contract";
import type { Layout } from "./layout.ts";
import { readText } from "./read-json.ts";
import { UserError } from "../errors/user-error.ts";

/** The agent's bearer token. @throws UserError not_attached, key_file */
export async function readAgentToken(layout: Layout): Promise<string> {
  const text = await readText(layout.token);
  if (text === null)
    throw new UserError(
      "not_attached",
      `${layout.token} does not exist. Put a copy of it back. If there is none, put the root aside and attach anew: docs/keys.md, "A stolen key or token".`,
    );
  const token = text.trim();
  if (!AGENT_TOKEN.test(token))
    throw new UserError("key_file", `${layout.token} holds no agent token (ats_…)`);
  return token;
}
