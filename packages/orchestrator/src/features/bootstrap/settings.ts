import type { Attached } from "@attestore/contract";
import type { Sealer } from "../../platform/http/sealer.ts";
import type { LogAccess } from "../log-access.ts";

export interface BootstrapDeps {
  log: LogAccess;
  sealer: Sealer;
  /** Where people reach the service, without a slash at the end. */
  publicUrl: string;
  heartbeatInterval_s: number;
}

/** What an agent gets when it is let in. */
export function attached(
  deps: BootstrapDeps,
  agent: { agentId: string; orgId: string; apiToken: string },
): Attached {
  return {
    agent_id: agent.agentId,
    org_id: agent.orgId,
    api_token: agent.apiToken,
    log: deps.log.identity(agent.orgId),
    heartbeat_interval_s: deps.heartbeatInterval_s,
  };
}
