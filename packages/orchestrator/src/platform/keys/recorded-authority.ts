import { X509Certificate } from "node:crypto";
import type { Pool } from "pg";

const SETTING = "authority";

interface Recorded {
  /** Of the certificate, SHA-256, as `AB:CD:…`. */
  fingerprint: string;
}

/**
 * Records which local certificate authority this start serves with. Replicas need the same one,
 * because agents know one alone.
 * @returns the fingerprint of the one that another start recorded before, if it is another
 */
export async function recordAuthority(pool: Pool, caPem: string): Promise<string | null> {
  const before = await recordedAuthority(pool);
  const own: Recorded = { fingerprint: fingerprintOf(caPem) };
  await pool.query(
    `insert into service_settings (name, value) values ($1, $2)
     on conflict (name) do update set value = excluded.value where service_settings.value <> excluded.value`,
    [SETTING, JSON.stringify(own)],
  );
  return before === null || before === own.fingerprint ? null : before;
}

/** That of the start that recorded one last; null if none did. */
export async function recordedAuthority(pool: Pool): Promise<string | null> {
  const { rows } = await pool.query<{ value: Recorded }>(
    "select value from service_settings where name = $1",
    [SETTING],
  );
  return rows[0]?.value.fingerprint ?? null;
}

export function fingerprintOf(caPem: string): string {
  return new X509Certificate(caPem).fingerprint256;
}
