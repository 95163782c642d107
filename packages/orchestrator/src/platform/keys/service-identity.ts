import { createPublicKey } from "node:crypto";
import type { KeyObject } from "node:crypto";
import type { Pool } from "pg";
import { UserError } from "../errors/user-error.ts";
import { sealingKeyCheck } from "./service-keys.ts";
import type { ServiceKeys } from "./service-keys.ts";

/**
 * What every log of a service is tied to from its first start on: agents and auditors hold the key and the origin, and a log that
 * changes them looks like a fork. Kept in the database, because it is the database that the keys have to fit.
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
 * Records the identity on a first start, and on every later one refuses keys or a log host that differ. Of replicas that start at once
 * with different ones, one wins and the others refuse.
 *
 * @returns the log host, which without `logHost` is the one of before, or `defaultLogHost` on a first start
 */
export async function requireIdentity(
  pool: Pool,
  keys: ServiceKeys,
  hosts: { logHost: string | undefined; defaultLogHost: string },
): Promise<ServiceIdentity> {
  const before = await readIdentity(pool);
  const wanted: ServiceIdentity = {
    log_host: hosts.logHost ?? before?.log_host ?? hosts.defaultLogHost,
    log_key: rawPublicKey(keys.log.note),
    cosigner_key: rawPublicKey(keys.log.time),
    sealing_key_check: sealingKeyCheck(keys.sealing),
  };
  await pool.query(
    "insert into service_settings (name, value) values ($1, $2) on conflict (name) do nothing",
    [SETTING, JSON.stringify(wanted)],
  );
  const kept = await readIdentity(pool);
  if (kept === null) throw new Error("the service's identity was written and is not there");
  if (kept.log_host !== wanted.log_host) {
    throw new UserError(
      "invalid_setting",
      `ATTESTORE_LOG_HOST is ${wanted.log_host}, and the logs of this database were begun as ${kept.log_host}. It names them for ever: set it to ${kept.log_host}, or unset it.`,
    );
  }
  requireSame("log-signing.pem", kept.log_key, wanted.log_key);
  requireSame("log-cosigning.pem", kept.cosigner_key, wanted.cosigner_key);
  requireSame("sealing.key", kept.sealing_key_check, wanted.sealing_key_check);
  return kept;
}

function requireSame(file: string, kept: string, found: string): void {
  if (kept === found) return;
  throw new UserError(
    "key_file",
    `keys/${file} is not the key that this database was written with. Restore keys/ from the backup that the database is from. Nothing was changed.`,
  );
}

/** The 32 bytes of an Ed25519 public key (RFC 8032), in base64. */
export function rawPublicKey(privateKey: KeyObject): string {
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  if (x === undefined) throw new TypeError("not an Ed25519 key");
  return Buffer.from(x, "base64url").toString("base64");
}
