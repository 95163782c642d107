import type { Attached } from "@attestore/contract";
import { formatVerifierKey } from "@attestore/proof";
import type { CheckpointSigner } from "../../log/checkpoints/checkpoint-signer.ts";
import { logOrigin, logVerifier } from "../../log/checkpoints/log-keys.ts";
import type { Sealer } from "../../platform/http/sealer.ts";
import type { QuotaDefaults } from "../quotas/settings.ts";

export interface AttachDeps {
  /** For the names and keys of the organisations' logs. */
  signer: CheckpointSigner;
  sealer: Sealer;
  /** Where people reach the service, without a trailing slash. */
  publicUrl: string;
  heartbeatInterval_s: number;
  quotas: QuotaDefaults;
}

/** Settings that an agent gets when it is let in. */
export function attached(
  { signer, heartbeatInterval_s }: AttachDeps,
  agent: { agentId: string; orgId: string; apiToken: string },
): Attached {
  const origin = logOrigin(signer.identity.host, agent.orgId);
  return {
    agent_id: agent.agentId,
    org_id: agent.orgId,
    api_token: agent.apiToken,
    log: { origin, verifier_key: formatVerifierKey(logVerifier(signer.identity, origin)) },
    heartbeat_interval_s: heartbeatInterval_s,
  };
}
