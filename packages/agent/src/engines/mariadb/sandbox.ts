import { join } from "node:path";
import { programsIn } from "../../processes/run-program.ts";
import { CouldNotRun } from "../../runs/could-not-run.ts";
import { openProcessPlace } from "../../sandboxes/process/process-place.ts";
import type { ForeignMetadata, RunContext, Runtime, Sandbox } from "../engine.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { findClient, findServer, type Program, productOf, releaseOf } from "./programs.ts";
import { restoreInto } from "./restore-into.ts";
import { startMariadbIn } from "./scratch-mariadb.ts";

/** A scratch server of the backup's product, and of its release or a newer one. */
export async function findMariadbSandbox(metadata: ForeignMetadata): Promise<Sandbox> {
  const { engine_version: version } = metadata;
  const product = typeof version === "string" ? productOf(version) : "MariaDB";
  const server = await findServer(product);
  const isNewEnough = releaseOf(server.version) >= releaseOf(version);
  if (server.product !== product || !isNewEnough) {
    throw new CouldNotRun(
      server.product === product ? "tool_too_old" : "tool_missing",
      `the backup is of ${product} ${String(version).slice(0, 60)}, the server here is ${server.product} ${server.version}: install ` +
        (product === "MariaDB"
          ? "mariadb-server of that version or newer"
          : "mysql-server of that version or newer"),
    );
  }
  const client = await findClient();
  const runtime = runtimeOf(metadata, server);
  return {
    runtime,
    restore: async (content, context) =>
      restoreInto(await startServer(server, client, runtime, context), metadata, content, context),
  };
}

function runtimeOf({ engine }: ForeignMetadata, { product, version }: Program): Runtime {
  return {
    kind: "process",
    engine: engine === "mysql" ? "mysql" : "mariadb",
    engine_version: product === "MariaDB" ? `${version}-MariaDB` : version,
  };
}

async function startServer(
  server: Program,
  client: string,
  runtime: Runtime,
  { scratchDir, signal }: RunContext,
): Promise<ScratchServer> {
  const place = await openProcessPlace(scratchDir);
  const scratch = await startMariadbIn(place, server, signal);
  const programs = programsIn(join(client, ".."));
  return {
    runtime,
    run: (name, request) =>
      programs(name === "mariadb" ? client.slice(client.lastIndexOf("/") + 1) : name, {
        ...request,
        args: [...scratch.connection, ...request.args],
      }),
    files: { ours: place.home, theirs: place.home },
    errors: [],
    hasDied: () => scratch.hasDied(),
    close: () => scratch.close(),
  };
}
