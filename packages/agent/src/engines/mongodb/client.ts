import { errorMessage } from "@attestore/host/errno";
import { MongoClient, MongoNetworkError, MongoServerError, MongoServerSelectionError } from "mongodb";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import { isAboutTls } from "../remote.ts";

export interface OpenedClient {
  readonly client: MongoClient;
  /** As in a backup's metadata; see `productOf`. */
  readonly version: string;
}

/**
 * Connects, uses the connection and closes it. An abort breaks it off. If it fails, the message
 * begins with `what`, such as "the source orders cannot be reached".
 * @throws RunError `connection_failed`, `interrupted`
 */
export async function withClient<Result>(
  uri: string,
  { what, signal }: { readonly what: string; readonly signal: AbortSignal },
  use: (opened: OpenedClient) => Promise<Result>,
): Promise<Result> {
  stopIfAborted(signal);
  const client = clientOf(uri, what);
  const breakOff = (): void => void client.close(true).catch(() => undefined);
  signal.addEventListener("abort", breakOff, { once: true });
  try {
    const info = await client.db("admin").command({ buildInfo: 1 });
    return await use({ client, version: versionOf(info) });
  } catch (error) {
    stopIfAborted(signal);
    throw isOfTheConnection(error) ? connectionFailed(what, error) : error;
  } finally {
    signal.removeEventListener("abort", breakOff);
    await client.close(true);
  }
}

function clientOf(uri: string, what: string): MongoClient {
  try {
    return new MongoClient(uri, {
      appName: "attestore",
      maxPoolSize: 2,
      // Numbers of 64 bits must stay exact.
      useBigInt64: true,
      retryReads: false,
    });
  } catch (error) {
    // The driver's message about a URI may quote it.
    throw new RunError("connection_reference", `${what}: the driver rejects the mongodb:// URI`, {
      cause: error instanceof Error ? new Error(error.name) : undefined,
    });
  }
}

function versionOf(info: Readonly<Record<string, unknown>>): string {
  const { version, ferretdbVersion } = info;
  const ferret =
    typeof ferretdbVersion === "string"
      ? /^v?([0-9]+\.[0-9]+\.[0-9]+)/.exec(ferretdbVersion)?.[1]
      : undefined;
  if (ferret !== undefined) return `${ferret}-FerretDB`;
  if (typeof version === "string" && /^[0-9]+\.[0-9]+\.[0-9]+/.test(version)) return version.slice(0, 60);
  throw new RunError("connection_failed", "the server reports no known version");
}

/** Errors about the way to the server, or about access, and not about the data. */
export function isOfTheConnection(error: unknown): boolean {
  if (error instanceof MongoNetworkError || error instanceof MongoServerSelectionError) return true;
  // AuthenticationFailed, Unauthorized, and a server's shutdown.
  return error instanceof MongoServerError && [18, 13, 91, 11600].includes(Number(error.code));
}

/** The driver's messages name hosts, and never the password. */
function connectionFailed(what: string, error: unknown): RunError {
  const message = errorMessage(error);
  const isForbidden = error instanceof MongoServerError && error.code === 13;
  const hint = isForbidden
    ? " (the user needs the roles backup, or read on the database and clusterMonitor)"
    : isAboutTls(message)
      ? ". A server on another host must prove its identity: add tlsCAFile=/path/to/its-ca.pem to the URI, or relax this with tls=false"
      : "";
  return new RunError("connection_failed", `${what}: ${message.slice(0, 300)}${hint}`);
}
