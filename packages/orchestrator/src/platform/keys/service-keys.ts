import { join } from "node:path";
import { makeDirectory } from "@attestore/host/durable-files";
import type { Config } from "../config/read-config.ts";
import type { AuthorityKey } from "./authority-key.ts";
import { loadSecret, loadSigningKey } from "./key-files.ts";
import type { IfMissing } from "./key-files.ts";
import { configuredToken, type KeyPlaces, keyPlaces } from "./key-places.ts";
import { heldSealingKey, type SealingKey } from "./sealing-key.ts";
import { heldSigningKey, type SigningKey } from "./signing-key.ts";
import type { Token } from "./token/token.ts";
import { tokenAuthorityKey, tokenSealingKey, tokenSigningKey } from "./token/token-keys.ts";

/**
 * The service's keys: in `keys/`, made on the first start, or in a PKCS#11 token, where
 * `attestore-server keys move` makes them.
 */
export interface ServiceKeys {
  /** Ed25519: one signs checkpoints, the other cosigns the hourly ones for their time. */
  log: { note: SigningKey; time: SigningKey };
  /** For answers, mails and webhooks' secrets. */
  sealing: SealingKey;
  /** HMAC key of the disk store's URLs. */
  objectUrls: Buffer;
  /** The key of the own CA if a token holds it; otherwise it is `tls/ca.key`. */
  authority: AuthorityKey | null;
  /** Releases the token. */
  close(): Promise<void>;
}

export const SIGNING_FILE = "log-signing.pem";
export const COSIGNING_FILE = "log-cosigning.pem";
export const SEALING_FILE = "sealing.key";

/** The keys in these settings. Throws UserError `key_file`, and KeyTokenError. */
export async function openServiceKeys(config: Config, ifMissing: IfMissing): Promise<ServiceKeys> {
  const token = configuredToken(config);
  try {
    return await loadServiceKeys(join(config.data, "keys"), ifMissing, token, keyPlaces(config));
  } catch (error) {
    await token?.close();
    throw error;
  }
}

export async function loadServiceKeys(
  directory: string,
  ifMissing: IfMissing,
  token: Token | null = null,
  places: KeyPlaces = {},
): Promise<ServiceKeys> {
  await makeDirectory(directory);
  const log = async (file: string, uri: string | undefined): Promise<SigningKey> =>
    token === null || uri === undefined
      ? heldSigningKey(await loadSigningKey(join(directory, file), ifMissing))
      : tokenSigningKey(token, uri);
  return {
    log: { note: await log(SIGNING_FILE, places.log), time: await log(COSIGNING_FILE, places.time) },
    sealing:
      token === null || places.sealing === undefined
        ? heldSealingKey(await loadSecret(join(directory, SEALING_FILE), ifMissing))
        : await tokenSealingKey(token, places.sealing),
    // Its URLs are valid for minutes, so a new key does no harm.
    objectUrls: await loadSecret(join(directory, "object-urls.key"), "create"),
    authority:
      token === null || places.authority === undefined
        ? null
        : await tokenAuthorityKey(token, places.authority),
    close: async () => token?.close(),
  };
}
