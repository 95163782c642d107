import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { parseSourceConfig, type SourceConfig, SourceConfigError } from "../../config/source-config.ts";
import { listDatabases } from "../../engines/index.ts";
import { urlOfDatabase } from "../../engines/url-of-database.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { findAllowed } from "./allowed-files.ts";
import { findServers } from "./servers.ts";
import { refused } from "./refused.ts";

/** A database that this host found, as a source. */
export interface ChosenDatabase {
  /** For config.yaml. */
  readonly entry: Readonly<Record<"engine", string> & Partial<Record<"connection" | "path", string>>>;
  /** A URL with a password, and the file that `entry` names for it. */
  readonly secret: { readonly file: string; readonly text: string } | null;
  /** To reach it before the secret is in its file. */
  readonly source: SourceConfig;
}

/**
 * Finds the server and the database among those that this host lists now: the service's names are
 * only compared with them.
 * @throws UserError request_refused; RunError
 */
export async function chooseDatabase(
  config: Config,
  chosen: { readonly place: string; readonly database: string; readonly name: string; readonly root: string },
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<ChosenDatabase> {
  const { place, database, name, root } = chosen;
  if (/^(sqlite|files):/.test(place)) return chooseFile(config, chosen);
  const server = (await findServers(config)).find((each) => each.place === place);
  if (server === undefined) throw refused(`this host has no server "${place}"`);
  const { engine, databases } = await listDatabases(
    server.engine,
    { kind: "url", url: server.url },
    server.label,
    context,
  );
  const found = databases.find((each) => each === database);
  if (found === undefined) throw refused(`${server.label} has no such database, or not for this user`);
  const url = urlOfDatabase(server.url, found) ?? server.url;
  const file = `keys/${name}.url`;
  const connection = server.isSecret ? `file:${file}` : url;
  try {
    const source = parseSourceConfig(name, { engine, connection }, root);
    return {
      entry: { engine, connection },
      secret: server.isSecret ? { file: join(root, file), text: url } : null,
      source: { ...source, connection: { kind: "url", url } } as SourceConfig,
    };
  } catch (error) {
    if (!(error instanceof SourceConfigError)) throw error;
    throw refused(`the URL of ${server.label} cannot be used for another database: add it on the host`);
  }
}

/** The same of a SQLite database or a directory below one that config.yaml allows. */
async function chooseFile(
  config: Config,
  { place, database, name, root }: Parameters<typeof chooseDatabase>[1],
): Promise<ChosenDatabase> {
  const directory = (await findAllowed(config, root)).find((each) => each.place === place);
  if (directory === undefined)
    throw refused("config.yaml on this host does not allow this directory (remote_config_paths)");
  const found = [...directory.found.keys()].find((each) => each === database);
  if (found === undefined) throw refused(`${directory.path} has no such file or directory to choose`);
  const entry = { engine: directory.engine, path: join(directory.path, found) };
  return { entry, secret: null, source: parseSourceConfig(name, entry, root) };
}
