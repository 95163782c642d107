import type { BootstrapRecord } from "@attestore/contract";
import { fingerprintOf } from "./review.ts";
import type { Bootstrap } from "./store.ts";

/** An interactive attach as the API returns it: what a person compares with the host's screen. */
export function serializeBootstrap(bootstrap: Bootstrap): BootstrapRecord {
  return {
    id: bootstrap.id,
    created_at: bootstrap.created_at.toISOString(),
    name: bootstrap.name,
    hostname: bootstrap.hostname,
    platform: bootstrap.platform,
    agent_version: bootstrap.agent_version,
    address: bootstrap.address,
    public_key: bootstrap.public_key.toString("base64"),
    key_fingerprint: fingerprintOf(bootstrap),
    status: bootstrap.status,
    expires_at: bootstrap.expires_at.toISOString(),
    decided_at: bootstrap.decided_at?.toISOString() ?? null,
    decided_by: bootstrap.decided_by,
    agent_id: bootstrap.agent_id,
  };
}
