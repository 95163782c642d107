import { join } from "node:path";
import { replaceFile } from "@attestore/host/durable-files";
import type { ConnectionReference } from "../../../config/source-fields.ts";
import { makeScratchDirectory } from "../../../sandboxes/process/scratch-directory.ts";
import { referredText } from "../../connection-text.ts";
import { isRemote, systemAuthorities } from "../../remote.ts";
import { type ConnectionOptions, parseConnectionUrl } from "./connection-url.ts";

/**
 * The option file that gives the clients access. It contains the password, so that no argument list
 * and no environment does.
 */
export interface ConnectionFile {
  readonly path: string;
  /**
   * For every program that gets the file. MySQL's programs also read ~/.mylogin.cnf, which may name
   * another server, so this names a file that does not exist. MariaDB's programs do not read that
   * file.
   */
  readonly env: Readonly<Record<string, string>>;
  /** The database in the connection's URL. */
  readonly database: string | null;
  remove(): Promise<void>;
}

/** @throws RunError `connection_reference`, `sandbox_failed`. */
export async function writeConnectionFile(
  reference: ConnectionReference,
  scratchDir: string,
): Promise<ConnectionFile> {
  const { options, database } = await resolved(reference);
  const directory = await makeScratchDirectory(scratchDir, null);
  try {
    const path = join(directory.path, "client.cnf");
    await replaceFile(path, optionFile(withVerification(options)));
    const env = { MYSQL_TEST_LOGIN_FILE: join(directory.path, "none") };
    return { path, env, database, remove: () => directory.remove() };
  } catch (error) {
    await directory.remove();
    throw error;
  }
}

async function resolved(reference: ConnectionReference): Promise<ConnectionOptions> {
  switch (reference.kind) {
    case "url":
      return parseConnectionUrl(reference.url, "the configuration");
    case "env":
    case "file": {
      const { text, from } = await referredText(reference, "the database's mysql:// URL");
      return parseConnectionUrl(text, from);
    }
    case "service":
      throw new Error("a configuration never contains such a connection");
  }
}

/** With one of these, the URL itself decides how the server is verified. */
const SAID = ["ssl-mode", "ssl-verify-server-cert"];

/**
 * Requires a server on another host to prove its identity, unless the URL relaxes this. Each
 * product's client takes the option that it knows. No server may ask for a file of this host.
 */
export function withVerification(options: ConnectionOptions["options"]): Readonly<Record<string, string>> {
  const safe = { ...options, "loose-local-infile": "0" };
  const { host = "", socket, ssl } = options;
  const isSaid = SAID.some((name) => name in options) || /^(?:0|off|false)$/i.test(ssl ?? "");
  if (isSaid || socket !== undefined || !isRemote(host)) return safe;
  const authorities = "ssl-ca" in options || "ssl-capath" in options ? null : systemAuthorities();
  return {
    ...safe,
    "loose-ssl-verify-server-cert": "1",
    "loose-ssl-mode": "VERIFY_IDENTITY",
    ...(authorities === null ? {} : { "ssl-ca": authorities }),
  };
}

/**
 * Values are in double quotes, where only the backslash is special ("Using Option Files" in MySQL's
 * manual).
 */
export function optionFile(options: Readonly<Record<string, string>>): string {
  const lines = Object.entries(options).map(([name, value]) => `${name}="${value.replaceAll("\\", "\\\\")}"`);
  // The dump program rejects this option, so it is in a group that only the client reads.
  return ["[client]", ...lines, "[mysql]", "connect-timeout=30", ""].join("\n");
}
