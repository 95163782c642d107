import type { Pool } from "pg";
import { UserError } from "../errors/user-error.ts";
import type { ServiceKeys } from "./service-keys.ts";
import type { SigningKey } from "./signing-key.ts";

/**
 * Every log of a service is bound to this from its first start: agents and auditors know the key
 * and the origin, and a log that changes them looks like a fork. Stored in the database, because
 * the keys must match the database.
 */
export interface ServiceIdentity {
  /** First part of every log's origin. */
  log_host: string;
  /** Raw public keys in base64. */
  log_key: string;
  cosigner_key: string;
  sealing_key_check: string;
}

const SETTING = "identity";

export async function readIdentity(pool: Pool): Promise<ServiceIdentity | null> {
  const { rows } = await pool.query<{ value: ServiceIdentity }>(
    "select value from service_settings where name = $1",
    [SETTING],
  );
  return rows[0]?.value ?? null;
}

/**
 * Records the identity on a first start. On every later start it refuses keys or a log host that
 * differ. If replicas start at once with different ones, one wins and the others refuse.
 * @returns the log host; without `logHost` the recorded one, or `defaultLogHost` on a first start
 */
export async function requireIdentity(
  pool: Pool,
  keys: Pick<ServiceKeys, "log" | "sealing">,
  hosts: { logHost: string | undefined; defaultLogHost: string },
): Promise<ServiceIdentity> {
  const before = await readIdentity(pool);
  const wanted: ServiceIdentity = {
    log_host: hosts.logHost ?? before?.log_host ?? hosts.defaultLogHost,
    log_key: base64(keys.log.note),
    cosigner_key: base64(keys.log.time),
    sealing_key_check: keys.sealing.check,
  };
  await pool.query(
    "insert into service_settings (name, value) values ($1, $2) on conflict (name) do nothing",
    [SETTING, JSON.stringify(wanted)],
  );
  const kept = await readIdentity(pool);
  if (kept === null) throw new Error("the service's identity was written but is missing");
  if (kept.log_host !== wanted.log_host) {
    throw new UserError(
      "invalid_setting",
      `ATTESTORE_LOG_HOST is ${wanted.log_host}, but the logs of this database were created as ${kept.log_host}, and their name cannot change. Set it to ${kept.log_host}, or unset it.`,
    );
  }
  requireSame("log-signing.pem", "ATTESTORE_LOG_KEY", kept.log_key, wanted.log_key);
  requireSame("log-cosigning.pem", "ATTESTORE_TIME_KEY", kept.cosigner_key, wanted.cosigner_key);
  requireSame("sealing.key", "ATTESTORE_SEALING_KEY", kept.sealing_key_check, wanted.sealing_key_check);
  return kept;
}

function requireSame(file: string, setting: string, kept: string, found: string): void {
  if (kept === found) return;
  throw new UserError(
    "key_file",
    `keys/${file}, or what ${setting} names, is not the key that this database was written with. Restore keys/ from the same backup as the database. To move the key into a token, use attestore-server keys move. Nothing was changed.`,
  );
}

const base64 = ({ publicKey }: SigningKey): string => Buffer.from(publicKey).toString("base64");
