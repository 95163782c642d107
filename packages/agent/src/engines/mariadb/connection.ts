import { open } from "node:fs/promises";
import { join } from "node:path";
import type { ConnectionReference } from "../../root/source-fields.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import { referredText } from "../connection-text.ts";
import { type ConnectionOptions, parseConnectionUrl } from "./connection-url.ts";

/** The file that lets the clients in. It has the password, which is so in no argument list and no environment. */
export interface ConnectionFile {
  readonly path: string;
  /**
   * For every program that is given the file. MySQL's read ~/.mylogin.cnf after it, which may name another server; this names one that is
   * not there. MariaDB's know no such file.
   */
  readonly env: Readonly<Record<string, string>>;
  /** The connection's own database. */
  readonly database: string | null;
  remove(): Promise<void>;
}

/** @throws CouldNotRun `connection_reference`, `sandbox_failed`. */
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
      await file.writeFile(optionFile(options));
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
      throw new Error("no such connection is read from a configuration");
  }
}

/** Values in double quotes, in which only the backslash is special ("Using Option Files" of MySQL's manual). */
export function optionFile(options: Readonly<Record<string, string>>): string {
  const lines = Object.entries(options).map(([name, value]) => `${name}="${value.replaceAll("\\", "\\\\")}"`);
  // The dump program knows no such option, and minds.
  return ["[client]", ...lines, "[mysql]", "connect-timeout=30", ""].join("\n");
}
