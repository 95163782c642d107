import { normalizeCode } from "@attestore/contract";
import { publicKeyFromBytes, sshFingerprint } from "@attestore/proof";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import type { Sealer } from "../../platform/http/sealer.ts";
import { mintAgent } from "../agents/mint-agent.ts";
import { type Bootstrap, findByCode, lockByCode, setDecision } from "./store.ts";

export interface Decision {
  code: string;
  orgId: string;
  /** A user's id, or `console`. */
  decidedBy: string;
}

/**
 * The details that a person compares with the agent's screen before letting it in. Throws
 * `not_found`, also if another organisation than `orgId` decided, and `attach_expired` if nobody
 * decided in time.
 */
export async function reviewBootstrap(
  db: Database,
  code: string,
  orgId?: string,
): Promise<Bootstrap & { fingerprint: string }> {
  const bootstrap = await findByCode(db, codeHash(code));
  if (bootstrap === null) throw unknownCode();
  if (orgId !== undefined) {
    if (isOfAnother(bootstrap, orgId)) throw unknownCode();
    if (bootstrap.status === "pending") assertInTime(bootstrap);
  }
  return { ...bootstrap, fingerprint: fingerprintOf(bootstrap) };
}

/**
 * Lets the agent in: creates it in the organisation and leaves its sealed token for the poll.
 * Throws `not_found` for an unknown code, `attach_expired`, and `conflict` if it was decided
 * already.
 */
export async function approveBootstrap(
  tx: DatabaseTransaction,
  sealer: Sealer,
  { code, orgId, decidedBy }: Decision,
): Promise<{ bootstrap: Bootstrap; agentId: string }> {
  const pending = await lockPending(tx, code, orgId);
  const { agentId, apiToken } = await mintAgent(tx, {
    orgId,
    name: pending.name,
    hostname: pending.hostname,
    platform: pending.platform,
    agentVersion: pending.agent_version,
    publicKey: publicKeyFromBytes(pending.public_key),
    actorId: decidedBy,
  });
  const bootstrap = await setDecision(tx, pending.id, {
    status: "approved",
    decided_at: new Date(),
    decided_by: decidedBy,
    org_id: orgId,
    agent_id: agentId,
    sealed_token: await sealer.seal(Buffer.from(apiToken), tokenPurpose(pending.id)),
  });
  return { bootstrap, agentId };
}

/** Rejects the agent: its poll ends with 403. Throws what approving throws. */
export async function denyBootstrap(
  tx: DatabaseTransaction,
  { code, orgId, decidedBy }: Decision,
): Promise<Bootstrap> {
  const pending = await lockPending(tx, code, orgId);
  return setDecision(tx, pending.id, {
    status: "denied",
    decided_at: new Date(),
    decided_by: decidedBy,
    org_id: orgId,
    agent_id: null,
    sealed_token: null,
  });
}

export function fingerprintOf(bootstrap: { public_key: Buffer }): string {
  return sshFingerprint(publicKeyFromBytes(bootstrap.public_key));
}

export function codeHash(code: string): Buffer {
  const normal = normalizeCode(code);
  if (normal === null) throw unknownCode();
  return credentialHash(normal);
}

/** Binds a sealed token to its row: copied to another row, it can't be opened. */
export function tokenPurpose(bootstrapId: string): string {
  return `bootstrap:${bootstrapId}`;
}

async function lockPending(tx: DatabaseTransaction, code: string, orgId: string): Promise<Bootstrap> {
  const bootstrap = await lockByCode(tx, codeHash(code));
  if (bootstrap === null || isOfAnother(bootstrap, orgId)) throw unknownCode();
  if (bootstrap.status !== "pending")
    throw new ApiError("conflict", `This attach is already ${bootstrap.status}.`);
  assertInTime(bootstrap);
  return bootstrap;
}

function assertInTime({ expires_at }: Bootstrap): void {
  if (expires_at <= new Date())
    throw new ApiError("attach_expired", "This attach expired after 15 minutes. Start it again on the host.");
}

/** While it waits it belongs to no organisation. */
function isOfAnother({ org_id }: Bootstrap, orgId: string): boolean {
  return org_id !== null && org_id !== orgId;
}

function unknownCode(): ApiError {
  return notFound("attach code");
}
