import { dirname, join } from "node:path";
import { RunError } from "../../../errors/run-error.ts";
import type { SourceCommon } from "../../../config/source-config.ts";
import type { ForeignMetadata, Runtime, Sandbox } from "../../engine.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { findContainerPlace, findHostPlace, type FoundPlace } from "./places.ts";
import { type Product, productOf, releaseOf } from "../connection/programs.ts";
import { restoreInto } from "../restore/restore-into.ts";
import { isDumper } from "../content/compare-rows.ts";
import { startMariadbIn } from "./scratch-mariadb.ts";
import { type ServerSettings, settingsIn } from "../connection/server-settings.ts";

/**
 * Finds a server of the backup's product, of the same release or a newer one: on this host, or in a
 * container's image.
 */
export async function findMariadbSandbox(
  metadata: ForeignMetadata,
  { sandbox }: Pick<SourceCommon, "sandbox">,
): Promise<Sandbox> {
  const { engine_version: version } = metadata;
  const product = typeof version === "string" ? productOf(version) : "MariaDB";
  if (sandbox !== "process" && sandbox.kind === "uri")
    throw new Error("a configuration of this engine never contains such a sandbox");
  const found =
    sandbox === "process"
      ? await findHostPlace(product)
      : await findContainerPlace(sandbox, product, version);
  // Before the first backup, nobody knows its version.
  if ("engine_version" in metadata) requireFit(found, product, version);
  const runtime = runtimeOf(metadata, found);
  return {
    runtime,
    restore: async (content, context) =>
      restoreInto(
        await startServer(found, runtime, settingsIn(metadata), context),
        metadata,
        content,
        context,
      ),
  };
}

/**
 * Neither product loads every dump of the other, and an older release may not load a dump of a
 * newer one.
 */
function requireFit({ programs, holder, remedy }: FoundPlace, product: Product, version: unknown): void {
  const { server } = programs;
  if (server.product === product && releaseOf(server.version) >= releaseOf(version)) return;
  throw new RunError(
    server.product === product ? "tool_too_old" : "tool_missing",
    `the backup is of ${product} ${String(version).slice(0, 60)}, but ${holder} has ${server.product} ${server.version}: ${remedy}`,
  );
}

function runtimeOf({ engine }: ForeignMetadata, { kind, programs, imageDigest }: FoundPlace): Runtime {
  const { product, version } = programs.server;
  return {
    kind,
    engine: (engine ?? product.toLowerCase()) === "mysql" ? "mysql" : "mariadb",
    engine_version: product === "MariaDB" ? `${version}-MariaDB` : version,
    ...(imageDigest === undefined ? {} : { image_digest: imageDigest }),
  };
}

async function startServer(
  { programs, memory_mb, open }: FoundPlace,
  runtime: Runtime,
  settings: ServerSettings,
  context: RunContext,
): Promise<ScratchServer> {
  const place = await open(context);
  const scratch = await startMariadbIn(place, programs, { ...settings, memory_mb }, context.signal);
  return {
    runtime,
    // Use the client that was found, whatever it is called.
    run: (name, request) =>
      place.start({
        ...request,
        command: isDumper(name) ? join(dirname(programs.client), name) : programs.client,
        args: [...scratch.connection, ...request.args],
      }),
    // The client gets the dump through stdin.
    files: null,
    errors: [],
    hasRunFull: () => scratch.hasRunFull(),
    hasDied: () => scratch.hasDied(),
    close: () => scratch.close(),
  };
}
