import type { LogIdentity } from "@attestore/contract";
import type { AgentPrincipal } from "../platform/http/principal.ts";

/** What features read of the transparency log. Each uses connections of its own: not for inside a transaction. */
export interface LogAccess {
  identity(orgId: string): LogIdentity;
  /** The newest signed checkpoint of the organisation's log. */
  newestCheckpoint(orgId: string): Promise<string>;
  /** Keeps what an agent holds of the log and its cosignature over it. What does not verify is told in the service's log and left. */
  acceptWitness(
    agent: AgentPrincipal,
    held: { checkpoint: string; cosignature: string | null },
  ): Promise<void>;
}
