import type { Database } from "../../../platform/database/schema.ts";

/** Where a delivery goes at this moment. */
export type Receiver =
  | { kind: "email"; email: string }
  | { kind: "webhook"; url: string; sealedSecrets: Buffer[] };

/**
 * Null if nothing must be sent any longer: the channel was removed or switched off, or its user was
 * removed.
 */
export async function findReceiver(db: Database, channelId: string): Promise<Receiver | null> {
  const row = await db
    .selectFrom("notification_channels as channel")
    .leftJoin("users", (join) =>
      join.onRef("users.id", "=", "channel.user_id").on("users.removed_at", "is", null),
    )
    .select([
      "channel.kind",
      "channel.url",
      "channel.sealed_secret",
      "channel.former_sealed_secret",
      "channel.former_secret_until",
      "users.email",
    ])
    .where("channel.id", "=", channelId)
    .where("channel.removed_at", "is", null)
    .where("channel.disabled_at", "is", null)
    .executeTakeFirst();
  if (row === undefined) return null;
  if (row.kind === "email") return row.email === null ? null : { kind: "email", email: row.email };
  const { url, sealed_secret, former_sealed_secret: former, former_secret_until: until } = row;
  if (url === null || sealed_secret === null) return null;
  const isFormerValid = former !== null && until !== null && until > new Date();
  return { kind: "webhook", url, sealedSecrets: isFormerValid ? [sealed_secret, former] : [sealed_secret] };
}
