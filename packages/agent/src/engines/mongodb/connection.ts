import { join } from "node:path";
import { replaceFile } from "@attestore/host/durable-files";
import type { ConnectionReference } from "../../config/source-fields.ts";
import { RunError } from "../../errors/run-error.ts";
import { makeScratchDirectory } from "../../sandboxes/process/scratch-directory.ts";
import { isRemote } from "../remote.ts";
import { referredText } from "../connection-text.ts";
import { OWN_DATABASES } from "./own-databases.ts";

const URI_FORM = /^mongodb(?:\+srv)?:\/\/[^/?#\s]+(?:\/([^/?#\s]*))?(?:\?[^#\s]*)?$/;
/** Characters that no database's name may contain ("Naming Restrictions" in MongoDB's manual). */
const NO_NAME = /[\0/\\. "$*<>:|?]/;

export interface Connection {
  /** Contains the password. */
  readonly uri: string;
  /** The database in its path; null for the whole server. */
  readonly database: string | null;
}

/**
 * @throws RunError `connection_reference`. The message contains no part of the URI, because any
 * part may be the secret.
 */
export async function resolveConnection(reference: ConnectionReference): Promise<Connection> {
  switch (reference.kind) {
    case "url":
      return parseUri(reference.url, "the configuration");
    case "env":
    case "file": {
      const { text, from } = await referredText(reference, "the database's mongodb:// URI");
      return parseUri(text, from);
    }
    case "service":
      throw new Error("a configuration never contains such a connection");
  }
}

export function parseUri(text: string, from: string): Connection {
  const uri = text.trim();
  const match = URI_FORM.exec(uri);
  if (match === null) throw invalid(from, "it is not a mongodb:// URI");
  const [, path = ""] = match;
  let database: string;
  try {
    database = decodeURIComponent(path);
  } catch {
    throw invalid(from, "a % in it is not followed by two hex digits");
  }
  if (NO_NAME.test(database)) throw invalid(from, "its path is not the name of a database");
  if (OWN_DATABASES.includes(database))
    throw invalid(
      from,
      `its path names ${database}, the server's own database, which no restore test restores. To log in with it, write ?authSource=${database}`,
    );
  return { uri: withTls(uri), database: database === "" ? null : database };
}

/**
 * A server on another host must prove that it is the named one, unless the URI asks for less
 * (`tls=false`, `tlsAllowInvalidCertificates=true`). With `mongodb+srv:` this is so anyway.
 */
function withTls(uri: string): string {
  const [, hosts = "", path = "", query = ""] =
    /^mongodb:\/\/(?:[^/@?]*@)?([^/?]+)(\/[^?]*)?(\?.*)?$/.exec(uri) ?? [];
  const isSaid = /[?&](?:tls|ssl)=/i.test(query);
  const names = hosts.split(",").map((host) =>
    host
      .replace(/:[0-9]*$/, "")
      .replaceAll(/%2f/gi, "/")
      .replaceAll(/[[\]]/g, ""),
  );
  if (isSaid || !names.some(isRemote)) return uri;
  return `${uri.slice(0, uri.length - path.length - query.length)}${path === "" ? "/" : path}${query === "" ? "?" : `${query}&`}tls=true`;
}

function invalid(from: string, what: string): RunError {
  return new RunError(
    "connection_reference",
    `the connection in ${from} cannot be used: ${what}. The form is mongodb://user:password@host:27017/database?authSource=admin`,
  );
}

/**
 * Writes the file with which mongodump connects. It contains the password, which is therefore in no
 * argument list and no environment.
 */
export async function writeConfigFile(
  { uri }: Connection,
  scratchDir: string,
): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const directory = await makeScratchDirectory(scratchDir, null);
  try {
    const path = join(directory.path, "mongodump.yaml");
    // A JSON string is also a YAML string.
    await replaceFile(path, `uri: ${JSON.stringify(uri)}\n`);
    return { path, remove: () => directory.remove() };
  } catch (error) {
    await directory.remove();
    throw error;
  }
}
