import { callbackify } from "node:util";
import pg from "pg";
import { errorCode, errorMessage } from "@attestore/host/errno";
import { endClient } from "./end-client.ts";
import { failUnreplicatedCommits } from "./standby.ts";
import { DatabaseUnavailable } from "./unavailable.ts";

/** libpq's name for the sessions that this service can use: they can write. */
const WRITABLE = new Set(["", "any", "read-write", "primary"]);
const ANY = new Set(["", "any"]);
const URL_PARTS = /^(?<scheme>postgres(?:ql)?:\/\/)(?<user>[^/?#]*@)?(?<hosts>[^/?#]*)(?<rest>.*)$/i;
const PROBE_WITHIN_MS = 3_000;
/** Connections that a pool opens at the same moment ask only once. */
const FRESH_MS = 1_000;

export class InvalidServers extends Error {}

/** The servers of a connection URL. */
export interface Servers {
  /** One URL for each of them, without `target_session_attrs`. */
  urls: string[];
  /** As they are written, such as `db.example.org:5432`. */
  names: string[];
  /** Whether the one that accepts writes has to be found first. */
  mustAsk: boolean;
}

/**
 * Reads `postgresql://user@one:5432,two:5432/db?target_session_attrs=read-write`, libpq's form for
 * several servers of which one is the primary.
 * @throws InvalidServers whose message ends the sentence "… must be"
 */
export function parseServers(url: string): Servers {
  const { scheme, user = "", hosts = "", rest = "" } = URL_PARTS.exec(url)?.groups ?? {};
  if (scheme === undefined) return { urls: [url], names: [], mustAsk: false };
  const [path = "", search = ""] = rest.split("?", 2);
  const parameters = new URLSearchParams(search);
  const attributes = parameters.get("target_session_attrs") ?? "";
  if (!WRITABLE.has(attributes))
    throw new InvalidServers("a URL of servers that accept writes: target_session_attrs=read-write, or none");
  if (parameters.getAll("host").some((host) => host.includes(",")))
    throw new InvalidServers(
      "a URL with several servers before its path: postgresql://USER@ONE,TWO/DATABASE",
    );
  parameters.delete("target_session_attrs");
  const query = parameters.size === 0 ? "" : `?${parameters.toString()}`;
  const names = hosts.split(",");
  const urls = names.map((host) => `${scheme}${user}${host}${path}${query}`);
  if (names.length === 1 && attributes === "") return { urls: [url], names, mustAsk: false };
  return { urls, names, mustAsk: names.length > 1 || !ANY.has(attributes) };
}

interface Address {
  host: string;
  port: number;
}

/**
 * A client of a database that several servers may have. With each connection it looks for the one
 * that accepts writes: after a failover, that is another one. A commit that the standby may lack
 * fails with NotReplicated.
 */
export class DatabaseClient extends pg.Client {
  readonly #find: (() => Promise<Address>) | null;

  constructor(config: pg.ClientConfig = {}) {
    const { urls, mustAsk } = parseServers(config.connectionString ?? "");
    super(config.connectionString === undefined ? config : { ...config, connectionString: urls[0] });
    // The next caller gets the error. Without a listener, it would end the process.
    this.on("error", () => undefined);
    failUnreplicatedCommits(this);
    this.#find = mustAsk ? () => findWritable(config, urls) : null;
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<this> | undefined {
    if (callback === undefined) return this.#connect();
    callbackify(() => this.#connect().then(() => undefined))(callback);
    return undefined;
  }

  async #connect(): Promise<this> {
    if (this.#find !== null) Object.assign(this, await this.#find());
    await super.connect();
    return this;
  }
}

const asked = new Map<string, { at: number; address: Promise<Address> }>();

function findWritable(config: pg.ClientConfig, urls: readonly string[]): Promise<Address> {
  const key = urls.join("\n");
  const before = asked.get(key);
  if (before !== undefined && performance.now() - before.at < FRESH_MS) return before.address;
  const address = askAll(config, urls);
  asked.set(key, { at: performance.now(), address });
  return address;
}

/** All at once, because a server whose host is gone does not answer for a long time. */
async function askAll(config: pg.ClientConfig, urls: readonly string[]): Promise<Address> {
  try {
    return await Promise.any(urls.map((connectionString) => askOne({ ...config, connectionString })));
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error;
    const reasons = error.errors.map((reason: unknown) => errorMessage(reason));
    throw new DatabaseUnavailable(error, `No server of the database accepts writes: ${reasons.join("; ")}.`);
  }
}

async function askOne(config: pg.ClientConfig): Promise<Address> {
  const client = new pg.Client({
    ...config,
    application_name: "attestore-server which",
    connectionTimeoutMillis: PROBE_WITHIN_MS,
    query_timeout: PROBE_WITHIN_MS,
  });
  client.on("error", () => undefined); // The query reports it.
  const { host, port } = client;
  try {
    await client.connect();
    const { rows } = await client.query<{ read_only: string }>(
      "select current_setting('transaction_read_only') as read_only",
    );
    if (rows[0]?.read_only !== "off") throw new Error("it is read-only, as a standby is");
    return { host, port };
  } catch (error) {
    throw new Error(`${host}:${port} (${errorCode(error) ?? errorMessage(error)})`, { cause: error });
  } finally {
    void endClient(client);
  }
}
