import type { Schemas } from "@attestore/contract/client";
import { api } from "./client.ts";

/** Asks a source's agent for a backup or a restore test. Returns the command's id. */
export async function startRun(
  orgID: string,
  sourceID: string,
  kind: Schemas["CommandKind"],
): Promise<string> {
  const { body } = await api.call("post", "/api/orgs/{orgID}/sources/{sourceID}/trigger", {
    path: { orgID, sourceID },
    body: { kind },
    idempotencyKey: crypto.randomUUID(),
  });
  return body.command_id;
}
