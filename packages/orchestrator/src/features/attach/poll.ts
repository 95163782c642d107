import { setTimeout as delay } from "node:timers/promises";
import { POLL_HOLD_S } from "@attestore/contract";
import type { Database } from "../../platform/database/schema.ts";
import type { Answer } from "../../platform/http/route/answer.ts";
import { credentialHash } from "../../platform/http/credentials/bearer.ts";
import { ApiError, notFound } from "../../platform/errors/api-error.ts";
import { tokenPurpose } from "./review.ts";
import { attached, type AttachDeps } from "./attached-answer.ts";
import { type Bootstrap, findByPollToken } from "./store.ts";

const LOOK_EVERY_MS = 1000;

/**
 * Waits until the attach is decided or expires, at most 25 seconds. Looks once a second instead of
 * listening: any replica or the command line may decide, and one indexed read a second is cheap.
 */
export async function pollBootstrap(
  db: Database,
  deps: AttachDeps,
  pollToken: string,
  signal: AbortSignal,
): Promise<Answer> {
  const until = performance.now() + POLL_HOLD_S * 1000;
  const hash = credentialHash(pollToken);
  for (;;) {
    const bootstrap = await findByPollToken(db, hash);
    if (bootstrap === null) throw notFound("attach");
    const answer = await answerOf(deps, bootstrap);
    if (answer !== null) return answer;
    const left_ms = Math.min(until - performance.now(), bootstrap.expires_at.getTime() - Date.now());
    if (signal.aborted || performance.now() >= until) return { status: 202, body: { status: "pending" } };
    await delay(Math.max(1, Math.min(LOOK_EVERY_MS, left_ms)), undefined, { signal }).catch(() => undefined);
  }
}

/** Null until it is decided. */
async function answerOf(deps: AttachDeps, bootstrap: Bootstrap): Promise<Answer | null> {
  switch (bootstrap.status) {
    case "denied":
      throw new ApiError("attach_denied", "The attach was denied.");
    case "approved": {
      const { id, sealed_token, agent_id, org_id } = bootstrap;
      if (sealed_token === null || agent_id === null || org_id === null)
        throw expired("The agent of this attach already has its token.");
      const apiToken = (await deps.sealer.open(sealed_token, tokenPurpose(id))).toString();
      return { status: 200, body: attached(deps, { agentId: agent_id, orgId: org_id, apiToken }) };
    }
    case "pending":
      if (bootstrap.expires_at > new Date()) return null;
      throw expired("The attach expired after 15 minutes. Start it again.");
  }
}

function expired(message: string): ApiError {
  return new ApiError("attach_expired", message);
}
