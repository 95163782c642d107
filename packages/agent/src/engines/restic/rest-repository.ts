import { Agent } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import { RunError } from "../../errors/run-error.ts";
import { UserError } from "../../errors/user-error.ts";
import { readPinnedCa } from "../../transport/pinned-ca.ts";
import { objectConnections } from "../../transport/tls-trust.ts";
import { askHttps } from "./ask-https.ts";
import { type AskRemote, listOfRest, remoteFiles } from "./remote-files.ts";
import type { Repository } from "./repository.ts";

/**
 * A REST server of restic: `rest:https://HOST:PORT/PATH`. User and password come from restic's
 * variables `RESTIC_REST_USERNAME` and `_PASSWORD`, and a private CA from `RESTIC_CACERT`.
 * @throws RunError `connection_reference`
 */
export async function openRestRepository(
  address: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Repository> {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !["https:", "http:"].includes(url.protocol))
    throw new RunError("connection_reference", "a repository rest: takes an https:// or http:// URL");
  const user = decodeURIComponent(url.username) || (env["RESTIC_REST_USERNAME"] ?? "");
  const password = decodeURIComponent(url.password) || (env["RESTIC_REST_PASSWORD"] ?? "");
  const credentials = Buffer.from(`${user}:${password}`).toString("base64");
  const authorization = user === "" ? {} : { authorization: `Basic ${credentials}` };
  const base = new URL(`${url.origin}${url.pathname.replace(/\/*$/, "/")}`);
  const where = `rest:${base.href}`;
  const connections =
    base.protocol === "https:"
      ? await httpsConnections(env["RESTIC_CACERT"])
      : new Agent({ keepAlive: true, maxSockets: 8 });
  const ask: AskRemote = (method, path, headers, signal) =>
    askHttps(method, new URL(path, base), { ...authorization, ...headers }, connections, signal);
  return {
    ...remoteFiles(where, ask),
    list: (type, signal) => listOfRest(where, ask, type, signal),
    close: () => Promise.resolve(connections.destroy()),
  };
}

/**
 * Verifies TLS with the public CAs and with that one.
 * @throws RunError `connection_reference`
 */
export async function httpsConnections(caFile: string | undefined): Promise<HttpsAgent> {
  try {
    return objectConnections(await readPinnedCa(caFile ?? null));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new RunError("connection_reference", error.message, { cause: error });
  }
}
