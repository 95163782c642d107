import type { ChangeChannelRequest } from "@attestore/contract";
import type { DatabaseTransaction } from "../../../platform/database/schema.ts";
import { invalidRequest, notFound } from "../../../platform/errors/api-error.ts";
import { cancelPending, type Channel, findChannel, updateChannel } from "./channel-store.ts";
import type { NotificationDeps } from "./deps.ts";
import { newSecret } from "./webhook-secret.ts";
import { readWebhookUrl } from "./webhook-url.ts";

/** How long a former secret signs beside the new one. */
const BOTH_SIGN_MS = 24 * 3600 * 1000;

/** Throws `not_found`. */
export async function requireChannel(tx: DatabaseTransaction, orgId: string, id: string): Promise<Channel> {
  const channel = await findChannel(tx, orgId, id);
  if (channel === null) throw notFound("channel");
  return channel;
}

/**
 * Throws `not_found`, and `invalid_request` for settings that this kind of channel does not have.
 */
export async function changeChannel(
  tx: DatabaseTransaction,
  { webhookReach }: NotificationDeps,
  channel: Channel,
  request: ChangeChannelRequest,
): Promise<Channel> {
  const { name, types, status, url, weekly_evidence } = request;
  if (url !== undefined && channel.kind !== "webhook") throw notOfThisKind("/url");
  if (weekly_evidence !== undefined && channel.kind !== "email") throw notOfThisKind("/weekly_evidence");
  const disabling = status === "disabled" && channel.disabled_at === null;
  await updateChannel(tx, channel.id, {
    ...(name === undefined ? {} : { name }),
    ...(types === undefined ? {} : { types }),
    ...(url === undefined ? {} : { url: readWebhookUrl(url, webhookReach) }),
    ...(weekly_evidence === undefined ? {} : { weekly_evidence }),
    ...(disabling ? { disabled_at: new Date(), disabled_reason: "by_user" as const } : {}),
    ...(status === "active" ? { disabled_at: null, disabled_reason: null } : {}),
  });
  if (disabling) await cancelPending(tx, channel.id);
  return requireChannel(tx, channel.org_id, channel.id);
}

function notOfThisKind(path: string) {
  return invalidRequest("This kind of channel has no such setting.", [
    { path, message: "does not apply to this kind of channel" },
  ]);
}

/** Gives a webhook a new secret. The former one signs too for one day. */
export async function renewSecret(
  tx: DatabaseTransaction,
  { sealer }: NotificationDeps,
  channel: Channel,
): Promise<string> {
  if (channel.kind !== "webhook")
    throw invalidRequest("Only webhooks have a secret.", [
      { path: "", message: "belongs to a mail channel" },
    ]);
  const { secret, sealed } = await newSecret(sealer, channel.id);
  await tx
    .updateTable("notification_channels")
    .set((row) => ({
      former_sealed_secret: row.ref("sealed_secret"),
      former_secret_until: new Date(Date.now() + BOTH_SIGN_MS),
      sealed_secret: sealed,
    }))
    .where("id", "=", channel.id)
    .execute();
  return secret;
}

/** Removes the channel and its secrets. Its deliveries stay listed. */
export async function removeChannel(tx: DatabaseTransaction, channel: Channel): Promise<void> {
  await updateChannel(tx, channel.id, {
    removed_at: new Date(),
    sealed_secret: null,
    former_sealed_secret: null,
    former_secret_until: null,
  });
  await cancelPending(tx, channel.id);
}
