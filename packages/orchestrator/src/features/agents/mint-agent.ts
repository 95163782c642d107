import { newId } from "@attestore/contract";
import { sshFingerprint, type PublicKey } from "@attestore/proof";
import { appendInTransaction } from "../../log/events/append-in-transaction.ts";
import type { DatabaseTransaction } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { newAgentToken } from "../secrets.ts";
import { loggedActor } from "../logged-actor.ts";
import { insertAgent } from "./store.ts";

export interface NewAgent {
  orgId: string;
  name: string;
  hostname: string;
  platform: string;
  agentVersion: string;
  publicKey: PublicKey;
  /** Who let it in: the id of an auth key or of a user, or `console`. */
  actorId: string;
}

/**
 * Creates an agent and its token, and writes the log entry in the same transaction. The transaction
 * should end soon, because the log stays locked until then. The token is stored nowhere.
 */
export async function mintAgent(
  tx: DatabaseTransaction,
  agent: NewAgent,
): Promise<{ agentId: string; apiToken: string }> {
  const agentId = newId("agent");
  const apiToken = newAgentToken();
  const fingerprint = sshFingerprint(agent.publicKey);
  const occurredAt = new Date();
  await insertAgent(tx, {
    id: agentId,
    org_id: agent.orgId,
    name: agent.name,
    hostname: agent.hostname,
    platform: agent.platform,
    agent_version: agent.agentVersion,
    public_key: Buffer.from(agent.publicKey.bytes),
    key_fingerprint: fingerprint,
    token_sha256: credentialHash(apiToken),
    created_at: occurredAt,
  });
  await appendInTransaction(tx, [
    {
      orgId: agent.orgId,
      kind: "agent_attached",
      ...loggedActor(agent.actorId, {
        agent_id: agentId,
        name: agent.name,
        hostname: agent.hostname,
        key_fingerprint: fingerprint,
      }),
      occurredAt,
    },
  ]);
  return { agentId, apiToken };
}
