import { ACCOUNT_NAME, type ConfigResult, type FoundServer } from "@attestore/contract";
import type { Config } from "../../config/config.ts";
import { listDatabases } from "../../engines/index.ts";
import { RunError } from "../../errors/run-error.ts";
import type { RunContext } from "../../sandboxes/run-context.ts";
import { type AllowedDirectory, findAllowed } from "./allowed-files.ts";
import { findServers, type Server, userName } from "./servers.ts";
import { clipped } from "./clipped.ts";
import { fitAnswer } from "./fit-answer.ts";

const MOST_SERVERS = 50;
const LONGEST_MS = 20_000;

/**
 * Lists the databases of every server that this host reaches by itself, and the content of the
 * directories that config.yaml names for this.
 */
export async function discover(
  config: Config,
  root: string,
  context: Pick<RunContext, "scratchDir" | "signal">,
): Promise<Extract<ConfigResult, { kind: "discover" }>> {
  const directories = (await findAllowed(config, root)).map(offered);
  const servers = (await findServers(config)).slice(0, MOST_SERVERS - directories.length);
  const user = userName();
  return {
    kind: "discover",
    ...(user !== null && new RegExp(ACCOUNT_NAME).test(user) ? { user } : {}),
    servers: fitAnswer([
      ...(await Promise.all(servers.map((server) => look(server, context)))),
      ...directories,
    ]),
  };
}

function offered({ place, engine, path, found }: AllowedDirectory): FoundServer {
  return {
    place,
    engine,
    label: clipped(path, 300),
    state: "ready",
    databases: Array.from(found, ([name, source]) => ({ name, ...(source === null ? {} : { source }) })),
  };
}

async function look(
  { place, engine, label, url, taken }: Server,
  { scratchDir, signal }: Pick<RunContext, "scratchDir" | "signal">,
): Promise<FoundServer> {
  const found = { place, engine, label: clipped(label, 300) };
  const timeout = AbortSignal.timeout(LONGEST_MS);
  try {
    const listed = await listDatabases(engine, { kind: "url", url }, label, {
      scratchDir,
      signal: AbortSignal.any([signal, timeout]),
    });
    return {
      ...found,
      engine: listed.engine,
      state: "ready",
      databases: listed.databases
        .filter((name) => name.length <= 300)
        .map((name) => {
          const source = taken.get(name);
          return { name, ...(source === undefined ? {} : { source }) };
        }),
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof RunError)) throw error;
    const isMissing = error.code === "tool_missing";
    const problem = timeout.aborted ? `no answer within ${LONGEST_MS / 1000} seconds` : error.message;
    return {
      ...found,
      state: isMissing ? "no_client" : "refused",
      problem: clipped(problem, 1000),
      databases: [],
    };
  }
}
