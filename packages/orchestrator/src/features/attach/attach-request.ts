import type { AttachRequest } from "@attestore/contract";
import { readPublicKey } from "../agents/agent-public-key.ts";
import type { NewAgent } from "../agents/mint-agent.ts";

/**
 * What an agent says about itself when it attaches, with its key checked. Throws `invalid_request`.
 */
export function readAttachRequest(body: AttachRequest): Omit<NewAgent, "orgId" | "actorId"> {
  return {
    name: body.name,
    hostname: body.hostname,
    platform: body.platform,
    agentVersion: body.agent_version,
    publicKey: readPublicKey(body.public_key),
  };
}
