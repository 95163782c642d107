import { open } from "node:fs/promises";
import { join } from "node:path";
import type { ConnectionReference } from "../../config/source-fields.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import { referredText } from "../connection-text.ts";
import { isRemote, systemAuthorities } from "../remote.ts";
import { type ConnectionOptions, parseConnectionUrl } from "./connection-url.ts";

/**
 * The file that lets the clients in. It has the password, which is so in no argument list and no
 * environment.
 */
export interface ConnectionFile {
  readonly path: string;
  /**
   * For every program that is given the file. MySQL's read ~/.mylogin.cnf after it, which may name
   * another server; this names one that is not there. MariaDB's know no such file.
   */
  readonly env: Readonly<Record<string, string>>;
  /** The connection's own database. */
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
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(optionFile(withVerification(options)));
    } finally {
      await file.close();
    }
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

/** With any of these the URL says itself what will do. */
const SAID = ["ssl-mode", "ssl-verify-server-cert"];

/**
 * A server on another host has to prove that it is the one that was named, unless the URL says what
 * else will do. Each product's client takes the option that is its own. No server may ask for a
 * file of this host.
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
 * Values in double quotes, in which only the backslash is special ("Using Option Files" of MySQL's
 * manual).
 */
export function optionFile(options: Readonly<Record<string, string>>): string {
  const lines = Object.entries(options).map(([name, value]) => `${name}="${value.replaceAll("\\", "\\\\")}"`);
  // The dump program knows no such option, and minds.
  return ["[client]", ...lines, "[mysql]", "connect-timeout=30", ""].join("\n");
}
