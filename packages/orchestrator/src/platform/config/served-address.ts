import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@attestore/host/durable-files";
import { nullIfMissing } from "@attestore/host/null-if-missing";
import { type Config, readSettings } from "./read-config.ts";
import type { ListenAddress } from "./setting-types.ts";

interface ServedAddress {
  public_url: string;
  listen: ListenAddress;
}

const fileIn = (data: string): string => join(data, "address.json");

/** For commands that somebody runs beside the service, in a shell without its settings. */
export async function keepServedAddress({ data, publicUrl, listen }: Config): Promise<void> {
  const { host, port } = listen;
  const served: ServedAddress = { public_url: publicUrl, listen: { host, port } };
  await replaceFile(fileIn(data), `${JSON.stringify(served)}\n`, { mode: 0o644 });
}

/**
 * The settings of a command. If they say nothing of the service's address, it is the one that the
 * data directory's service last had; otherwise a command would print the default, where nobody may
 * be listening.
 */
export async function readCommandConfig(environment: NodeJS.ProcessEnv): Promise<Config> {
  const { config, sources } = readSettings(environment);
  if (sources.publicUrl.source !== "unset" || sources.listen.source !== "default") return config;
  const served = await readServedAddress(config.data);
  return served === null ? config : { ...config, publicUrl: served.public_url, listen: served.listen };
}

/** Null if no service has run here yet, or if somebody else wrote the file. */
async function readServedAddress(data: string): Promise<ServedAddress | null> {
  const text = await nullIfMissing(readFile(fileIn(data), "utf8"));
  if (text === null) return null;
  try {
    const { public_url, listen } = JSON.parse(text) as Partial<ServedAddress>;
    if (typeof public_url !== "string" || new URL(public_url).origin !== public_url) return null;
    if (typeof listen?.host !== "string" || !Number.isInteger(listen.port)) return null;
    return { public_url, listen };
  } catch {
    return null;
  }
}
