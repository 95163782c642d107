import { type AddChannelRequest, newId } from "@attestore/contract";
import type { DatabaseTransaction } from "../../../platform/database/schema.ts";
import { ApiError, invalidRequest } from "../../../platform/errors/api-error.ts";
import { lockOrg } from "../../orgs/lock-org.ts";
import { memberByEmail } from "../../users/find-user.ts";
import { beginFollowing, countChannels, insertChannel } from "./channel-store.ts";
import type { NotificationDeps } from "./deps.ts";
import { newSecret } from "./webhook-secret.ts";
import { readWebhookUrl } from "./webhook-url.ts";

const MAX_CHANNELS = 50;

/**
 * Creates a channel. A webhook's secret is in the answer and nowhere else. Throws
 * `invalid_request`, `already_exists`, `conflict`.
 */
export async function addChannel(
  tx: DatabaseTransaction,
  { sealer, webhookReach }: NotificationDeps,
  { orgId, createdBy }: { orgId: string; createdBy: string },
  request: AddChannelRequest,
): Promise<{ id: string; secret: string | null }> {
  // One at a time, so that the count and the start of the cursor below are right.
  await lockOrg(tx, orgId);
  if ((await countChannels(tx, orgId)) >= MAX_CHANNELS)
    throw new ApiError(
      "conflict",
      `An organisation can have at most ${MAX_CHANNELS} channels. Remove one first.`,
    );
  const now = new Date();
  const id = newId("channel", now.getTime());
  const common = {
    id,
    org_id: orgId,
    name: request.name ?? null,
    types: request.types ?? null,
    created_by: createdBy,
    created_at: now,
  };
  const secret = request.kind === "webhook" ? await newSecret(sealer, id) : null;
  const isNew = await insertChannel(
    tx,
    request.kind === "webhook"
      ? {
          ...common,
          kind: "webhook",
          url: readWebhookUrl(request.url, webhookReach),
          sealed_secret: secret?.sealed ?? null,
        }
      : {
          ...common,
          kind: "email",
          user_id: await memberWith(tx, orgId, request.email),
          weekly_evidence: request.weekly_evidence ?? false,
        },
  );
  if (!isNew)
    throw new ApiError("already_exists", "This user already has a channel. Change that one instead.");
  await beginFollowing(tx, orgId);
  return { id, secret: secret?.secret ?? null };
}

/**
 * An organisation's events are mailed only to its own people, and no longer to somebody who left.
 * For a team's address, invite it as an auditor.
 */
async function memberWith(tx: DatabaseTransaction, orgId: string, email: string): Promise<string> {
  const user = await memberByEmail(tx, orgId, email);
  if (user !== null) return user.id;
  throw invalidRequest("Mails go to users of the organisation only.", [
    {
      path: "/email",
      message:
        "is not a member's address; invite the person, for example as an auditor, and try again once they accept",
    },
  ]);
}
