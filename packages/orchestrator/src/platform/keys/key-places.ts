import type { Config } from "../config/read-config.ts";
import { Token } from "./token/token.ts";

/**
 * The service's keys that a PKCS#11 token can hold, with the PKCS#11 URI of each one that a token
 * does hold.
 */
export interface KeyPlaces {
  log?: string | undefined;
  time?: string | undefined;
  authority?: string | undefined;
  sealing?: string | undefined;
}

export function keyPlaces({ logKey, timeKey, caKey, sealingKey }: Config): KeyPlaces {
  return { log: logKey, time: timeKey, authority: caKey, sealing: sealingKey };
}

/** The token in the settings; null if they name none. Its process starts with the first call. */
export function configuredToken({ pkcs11Module, pkcs11Pin }: Config): Token | null {
  if (pkcs11Module === undefined || pkcs11Pin === undefined) return null;
  return new Token({ module: pkcs11Module, pin: pkcs11Pin });
}
