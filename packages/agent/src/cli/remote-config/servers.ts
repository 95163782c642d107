import { readdir, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import type { SourceConfig } from "../../config/source-config.ts";
import { referredText } from "../../engines/connection-text.ts";
import { urlOfDatabase } from "../../engines/url-of-database.ts";
import { RunError } from "../../errors/run-error.ts";

/** A database server that this host reaches by itself. */
export interface Server {
  /** Names it for the service, which never says where a server is. */
  readonly place: string;
  readonly engine: "postgresql" | "mariadb";
  /** For people. */
  readonly label: string;
  /** A URL of it, with the database that is asked for the others. May hold a password. */
  readonly url: string;
  /** Whether the URL came from a secret, and may not go into config.yaml. */
  readonly isSecret: boolean;
  /** Databases that are backed up already, and as which source. */
  readonly taken: ReadonlyMap<string, string>;
}

export interface SocketPlaces {
  /** Directories with sockets called `.s.PGSQL.PORT`. */
  readonly postgresql: readonly string[];
  readonly mariadb: readonly string[];
}

/** Where the distributions' servers have their sockets. Not /tmp: anybody could listen there. */
const SOCKETS: SocketPlaces = {
  postgresql: ["/run/postgresql", "/var/run/postgresql"],
  mariadb: ["/run/mysqld/mysqld.sock", "/var/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock"],
};

/**
 * The servers that this host can already reach: by their sockets, as this user, and by the
 * connections in config.yaml.
 */
export async function findServers(config: Config, sockets: SocketPlaces = SOCKETS): Promise<Server[]> {
  const found = [...(await postgresqlSockets(sockets.postgresql)), ...(await mariadbSocket(sockets.mariadb))];
  // One server has one place, whichever of its sources leads there.
  const servers = new Map<string, Server & { readonly taken: Map<string, string> }>();
  for (const server of found) servers.set(baseOf(server.url), { ...server, taken: new Map() });
  for (const source of config.sources.values()) {
    const server = await serverOf(source);
    if (server === null) continue;
    const base = baseOf(server.url);
    const known = servers.get(base) ?? { ...server, taken: new Map<string, string>() };
    servers.set(base, known);
    for (const database of databasesOf(source, server.url)) known.taken.set(database, source.slug);
  }
  return [...servers.values()];
}

async function postgresqlSockets(directories: readonly string[]): Promise<Omit<Server, "taken">[]> {
  const ports = new Map<string, string>();
  for (const directory of directories) {
    if (!(await isGuarded(directory))) continue;
    for (const file of await readdir(directory)) {
      const port = /^\.s\.PGSQL\.(\d{1,5})$/.exec(file)?.[1];
      if (port !== undefined && !ports.has(port)) ports.set(port, directory);
    }
  }
  return Array.from(ports, ([port, directory]) => ({
    place: `socket:postgresql:${port}`,
    engine: "postgresql",
    label: join(directory, `.s.PGSQL.${port}`),
    url: `postgresql:///postgres?host=${encodeURIComponent(directory)}&port=${port}`,
    isSecret: false,
  }));
}

async function mariadbSocket(paths: readonly string[]): Promise<Omit<Server, "taken">[]> {
  const user = userName();
  if (user === null) return [];
  for (const path of paths) {
    const isSocket = await stat(path).then(
      (found) => found.isSocket(),
      () => false,
    );
    if (!isSocket || !(await isGuarded(join(path, "..")))) continue;
    const url = `mysql://${encodeURIComponent(user)}@localhost/?socket=${encodeURIComponent(path)}`;
    return [{ place: "socket:mariadb", engine: "mariadb", label: path, url, isSecret: false }];
  }
  return [];
}

/** Null for a user without an entry in the system's list of users. */
export function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}

/** Whether only its owner and group can put a socket there. */
async function isGuarded(directory: string): Promise<boolean> {
  return stat(directory).then(
    (found) => found.isDirectory() && (found.mode & 0o002) === 0,
    () => false,
  );
}

/** Null for an engine without a server, and for a connection that is no URL. */
async function serverOf(source: SourceConfig): Promise<Omit<Server, "taken"> | null> {
  if (source.engine !== "postgresql" && source.engine !== "mariadb" && source.engine !== "mysql") return null;
  const { connection } = source;
  if (connection.kind === "service") return null;
  const url = connection.kind === "url" ? connection.url : await textOf(connection);
  if (url === null || urlOfDatabase(url, "x") === null) return null;
  return {
    place: `source:${source.slug}`,
    engine: source.engine === "postgresql" ? "postgresql" : "mariadb",
    label: `the server of ${source.slug}`,
    url,
    isSecret: connection.kind !== "url",
  };
}

/** A server that `doctor` and the source's own backups complain about is not offered. */
async function textOf(reference: Parameters<typeof referredText>[0]): Promise<string | null> {
  try {
    return (await referredText(reference, "a URL")).text.trim();
  } catch (error) {
    if (error instanceof RunError) return null;
    throw error;
  }
}

const baseOf = (url: string): string => urlOfDatabase(url, "") ?? url;

function databasesOf(source: SourceConfig, url: string): readonly string[] {
  if (!("databases" in source) || source.databases === "all") return [];
  const own = /^[^:]+:\/\/[^/?#]*\/([^?#]+)/.exec(url)?.[1];
  return source.databases ?? (own === undefined ? [] : [decoded(own)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
