import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/read-config.ts";
import { COSIGNING_FILE, SEALING_FILE, SIGNING_FILE } from "./service-keys.ts";
import type { KeyKind } from "./token/token-calls.ts";

/** One of the service's keys that a token can hold. */
export interface KeySlot {
  name: "log" | "time" | "ca" | "sealing";
  kind: KeyKind;
  /** Where it is without a token; this file may be left over. */
  file: string;
  setting: string;
  /** Its place in the token; undefined if the settings keep it in the file. */
  uri: string | undefined;
}

export function keySlots(config: Config): KeySlot[] {
  const keys = join(config.data, "keys");
  return [
    {
      name: "log",
      kind: "ed25519",
      file: join(keys, SIGNING_FILE),
      setting: "ATTESTORE_LOG_KEY",
      uri: config.logKey,
    },
    {
      name: "time",
      kind: "ed25519",
      file: join(keys, COSIGNING_FILE),
      setting: "ATTESTORE_TIME_KEY",
      uri: config.timeKey,
    },
    {
      name: "ca",
      kind: "p256",
      file: join(config.data, "tls", "ca.key"),
      setting: "ATTESTORE_CA_KEY",
      uri: config.caKey,
    },
    {
      name: "sealing",
      kind: "aes256",
      file: join(keys, SEALING_FILE),
      setting: "ATTESTORE_SEALING_KEY",
      uri: config.sealingKey,
    },
  ];
}

/** Files of keys that a token holds too. */
export async function leftFiles(slots: readonly KeySlot[]): Promise<string[]> {
  const left: string[] = [];
  for (const { file, uri } of slots) {
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (uri !== undefined && isThere) left.push(file);
  }
  return left;
}
