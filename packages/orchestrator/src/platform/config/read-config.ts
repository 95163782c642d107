import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isIP } from "node:net";
import { errorMessage } from "@attestore/host/errno";
import { nearestName } from "@attestore/host/nearest-name";
import { UserError } from "../errors/user-error.ts";
import { InvalidValue } from "./setting-types.ts";
import type { ListenAddress, ReadValue } from "./setting-types.ts";
import { OTHER_VARIABLES, SETTINGS } from "./settings.ts";
import type { Setting } from "./settings.ts";
import { type FileValue, readSettingsFile } from "./settings-file.ts";

/** Names a file with settings; only the environment can set it. */
export const CONFIG_FILE = "ATTESTORE_CONFIG";

type Table = typeof SETTINGS;
type Value<S> = S extends { read: ReadValue<infer T> }
  ? S extends { fallback: string }
    ? T
    : T | undefined
  : never;

/** Every setting by its name; undefined if it is unset and has no default. */
export type Settings = { [Name in keyof Table]: Value<Table[Name]> };

export interface Config extends Settings {
  publicUrl: string;
  /** The log's host on a first start without ATTESTORE_LOG_HOST. */
  defaultLogHost: string;
}

/** Where a setting's value comes from. */
export type SettingSource = "environment" | "file" | "default" | "unset";

export interface ReadSetting {
  source: SettingSource;
  /** As it was written. For a secret, only that there is one. */
  text: string | undefined;
  /** In the settings file. */
  line?: number;
}

/**
 * Reads all settings: from the environment, otherwise from the file that ATTESTORE_CONFIG names,
 * otherwise the default. An empty variable counts as unset.
 * @throws UserError that names all mistakes at once, and no secret
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  return readSettings(environment).config;
}

/** The same, with where each value comes from. */
export function readSettings(environment: NodeJS.ProcessEnv): {
  config: Config;
  sources: Record<keyof Settings, ReadSetting>;
} {
  const problems: string[] = [];
  const file = settingsFile(environment, problems);
  problems.push(...unknownVariables(Object.keys(environment)), ...unknownInFile(file));
  const values: Record<string, unknown> = {};
  const sources: Record<string, ReadSetting> = {};
  for (const [name, setting] of Object.entries<Setting<unknown>>(SETTINGS)) {
    const source = sourceOf(setting, environment[setting.variable], file.values.get(setting.variable));
    sources[name] = {
      ...source,
      text: setting.secret === true && source.text !== undefined ? "set" : source.text,
    };
    try {
      values[name] = readSetting(setting, source.text);
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      problems.push(
        source.line === undefined ? error.message : `${file.path}, line ${source.line}: ${error.message}`,
      );
    }
  }
  // Each value was made by the reader that its type comes from.
  const settings = values as Settings;
  if (problems.length === 0) problems.push(...contradictions(settings));
  if (problems.length > 0) throw new UserError("invalid_setting", problems.join("\n"));
  const publicUrl = settings.publicUrl ?? defaultPublicUrl(settings.listen);
  const defaultLogHost = new URL(publicUrl).hostname.replace(/^\[|\]$/g, "");
  return {
    config: { ...settings, publicUrl, defaultLogHost },
    sources: sources as Record<keyof Settings, ReadSetting>,
  };
}

interface SettingsFile {
  path: string;
  values: Map<string, FileValue>;
}

function settingsFile(environment: NodeJS.ProcessEnv, problems: string[]): SettingsFile {
  const path = environment[CONFIG_FILE] ?? "";
  if (path === "") return { path, values: new Map() };
  try {
    return { path, values: readSettingsFile(path) };
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    problems.push(error.message);
    return { path, values: new Map() };
  }
}

function unknownInFile({ path, values }: SettingsFile): string[] {
  const known = new Set(Object.values<Setting<unknown>>(SETTINGS).map(({ variable }) => variable));
  return [...values]
    .filter(([name]) => !known.has(name))
    .map(([name, { line }]) => {
      const nearest = nearestName(name, [...known]);
      const hint = nearest === null ? "Remove it." : `Did you mean ${nearest}?`;
      return `${path}, line ${line}: unknown setting ${name}. ${hint}`;
    });
}

function sourceOf(
  setting: Setting<unknown>,
  given: string | undefined,
  inFile: FileValue | undefined,
): ReadSetting {
  if (given !== undefined && given !== "") return { source: "environment", text: given };
  if (inFile !== undefined && inFile.text !== "")
    return { source: "file", text: inFile.text, line: inFile.line };
  return setting.fallback === undefined
    ? { source: "unset", text: undefined }
    : { source: "default", text: setting.fallback };
}

function readSetting<T>(setting: Setting<T>, text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  try {
    return setting.read(setting.secret === true ? readSecret(setting.variable, text) : text);
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    if (error.message.startsWith(setting.variable)) throw error;
    const shown = setting.secret === true ? "" : ` is ${JSON.stringify(text)}, and`;
    throw new InvalidValue(`${setting.variable}${shown} must be ${error.message}.`);
  }
}

function readSecret(variable: string, text: string): string {
  if (!text.startsWith("file:")) return text;
  const file = text.slice("file:".length);
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new InvalidValue(`${variable} names a file that cannot be read: ${errorMessage(error)}.`);
  }
}

function unknownVariables(names: readonly string[]): string[] {
  const known = [
    CONFIG_FILE,
    ...Object.values<Setting<unknown>>(SETTINGS).map((setting) => setting.variable),
  ];
  return names
    .filter((name) => name.startsWith("ATTESTORE_") && !known.includes(name) && !OTHER_VARIABLES.has(name))
    .map((name) => {
      const nearest = nearestName(name, known);
      return nearest === null
        ? `Unknown setting ${name}. Unset it.`
        : `Unknown setting ${name}. Did you mean ${nearest}?`;
    });
}

function contradictions(settings: Settings): string[] {
  const problems: string[] = [];
  if ((settings.tlsCertificate === undefined) !== (settings.tlsKey === undefined)) {
    problems.push("ATTESTORE_TLS_CERT and ATTESTORE_TLS_KEY belong together: set both or neither.");
  }
  const s3 = [settings.s3Bucket, settings.s3AccessKeyId, settings.s3SecretAccessKey];
  if (s3.some((value) => value !== undefined) && s3.some((value) => value === undefined)) {
    problems.push(
      "ATTESTORE_S3_BUCKET, ATTESTORE_S3_ACCESS_KEY_ID and ATTESTORE_S3_SECRET_ACCESS_KEY belong together: set all three or none.",
    );
  }
  if (settings.backupDirectory !== undefined && settings.backupRecipients.length === 0) {
    problems.push(
      "ATTESTORE_BACKUP_DIRECTORY needs ATTESTORE_BACKUP_RECIPIENTS: without a recipient nobody could read the backups. Make one with age-keygen, and keep its key off this machine.",
    );
  }
  const { pkcs11Module, pkcs11Pin, logKey, timeKey, caKey, sealingKey } = settings;
  const inToken = [logKey, timeKey, caKey, sealingKey].some((uri) => uri !== undefined);
  if (inToken && (pkcs11Module === undefined || pkcs11Pin === undefined)) {
    problems.push(
      "A key with a pkcs11: URI needs ATTESTORE_PKCS11_MODULE and ATTESTORE_PKCS11_PIN; the PIN may be file:PATH.",
    );
  }
  return problems;
}

function defaultPublicUrl({ host, port }: ListenAddress): string {
  const isLocal = host === "::1" || host === "localhost" || host.startsWith("127.");
  const isWildcard = host === "::" || host === "0.0.0.0";
  const name = isLocal ? "localhost" : isWildcard ? hostname() : isIP(host) === 6 ? `[${host}]` : host;
  return new URL(`https://${name}:${port}`).origin;
}
