import { sql } from "kysely";
import { recordConsoleAction } from "../../features/api-logs/console-row.ts";
import { resealAll } from "../../features/sealed/reseal.ts";
import type { Database, DatabaseTransaction } from "../../platform/database/schema.ts";
import { UserError } from "../../platform/errors/user-error.ts";
import { loadSecret } from "../../platform/keys/key-files.ts";
import { heldSealingKey } from "../../platform/keys/sealing-key.ts";
import { tokenSealingKey } from "../../platform/keys/token/token-keys.ts";
import type { Token } from "../../platform/keys/token/token.ts";
import type { KeySlot } from "../../platform/keys/key-slots.ts";
import type { MovedKey } from "./move-key.ts";

/**
 * Seals everything that is sealed with a key that the token makes, and records that in the
 * database. This is one transaction, so wherever it is cut off, either the former key or the new
 * one opens everything. The file's key never gets into the token, and the file stays.
 * @param inUse the check of the key that the database was written with; null for a new database
 */
export async function moveSealingKey(
  { token, db }: { token: Token; db: Database },
  slot: KeySlot & { uri: string },
  inUse: string | null,
): Promise<{ is: MovedKey; resealed: number }> {
  const made = (await token.find(slot.uri, "aes256")) === null;
  if (made) await token.generate(slot.uri, "aes256");
  const to = await tokenSealingKey(token, slot.uri);
  if (inUse === null || inUse === to.check) return { is: made ? "made" : "there already", resealed: 0 };
  const from = heldSealingKey(await loadSecret(slot.file, "refuse"));
  if (from.check !== inUse)
    throw new UserError(
      "key_file",
      `Neither ${slot.file} nor the token's ${slot.uri} is the key of this database. Nothing was changed.`,
    );
  const resealed = await db.transaction().execute(async (tx) => {
    await requireNobodyElse(tx);
    const count = await resealAll(tx, from.sealer, to.sealer);
    const { rows } = await sql`
      update service_settings set value = jsonb_set(value, '{sealing_key_check}', to_jsonb(${to.check}::text))
      where name = 'identity' and value->>'sealing_key_check' = ${inUse} returning name`.execute(tx);
    if (rows.length !== 1) throw new Error("the service's identity changed meanwhile");
    await recordConsoleAction(tx, { command: "keys move", orgId: null });
    return count;
  });
  return { is: "moved", resealed };
}

/** Another service would keep encrypting with the former key. */
async function requireNobodyElse(tx: DatabaseTransaction): Promise<void> {
  const { rows } = await sql<{ others: number }>`
    select count(*)::int as others from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and (application_name like 'attestore-server%'
        -- What another role is called by is not shown to everybody; that it is there is.
        or (application_name is null and usename is not null))`.execute(tx);
  const others = rows[0]?.others ?? 0;
  if (others > 0)
    throw new UserError(
      "database_unusable",
      `${others} connections of another attestore-server are open. Stop every service and command that uses this database first. Nothing was changed.`,
    );
}
