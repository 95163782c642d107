import { join } from "node:path";
import { RunError } from "../../../errors/run-error.ts";
import { findServerImage } from "../../../sandboxes/container/server-image.ts";
import type { Place } from "../../../sandboxes/place.ts";
import { startPostgresIn } from "./scratch-postgres.ts";
import type { ContainerSandboxConfig } from "../../../config/sandbox-config.ts";
import type { Runtime } from "../../engine.ts";
import type { ScratchServer } from "../../scratch-server.ts";
import { majorOf } from "../connection/version.ts";

/**
 * Looks in the directories of Debian's and the PostgreSQL project's packages, then in the image's
 * PATH.
 */
const FIND_SERVER = `for bin in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin "$(dirname "$(command -v postgres || echo /)")"; do
  [ -x "$bin/postgres" ] && echo "$bin" && exec "$bin/postgres" --version; done; exit 3`;

export interface ContainerServer {
  readonly runtime: Runtime;
  start(signal: AbortSignal): Promise<ScratchServer>;
}

/**
 * Finds a container image with a PostgreSQL of exactly the backup's major version. It runs the
 * image to look at it, and starts no server yet. `major` 0 stands for an unknown backup; then the
 * configuration must name the image.
 * @throws RunError `tool_missing` without a runtime or the image, `tool_too_old` for an image of
 * another major version.
 */
export async function findContainerServer(
  config: ContainerSandboxConfig,
  major: number,
): Promise<ContainerServer> {
  const { name, digest, programs, open } = await findServerImage({
    config,
    product: "PostgreSQL",
    official: "docker.io/library/postgres:{major}",
    major: major === 0 ? null : String(major),
    // The official image and Debian's package have the same user.
    user: "postgres",
    script: FIND_SERVER,
    read: foundIn,
  });
  const { bin, version } = programs;
  if (major !== 0 && majorOf(version) !== major) {
    throw new RunError(
      "tool_too_old",
      `the image ${name} has PostgreSQL ${version}, but the backup is of ${major}: set an image of PostgreSQL ${major} under sandbox.image ("postgres:{major}" follows the backup's version)`,
    );
  }
  const runtime: Runtime = {
    kind: "container",
    engine: "postgresql",
    engine_version: version,
    image_digest: digest,
  };
  return { runtime, start: async (signal) => start(await open(signal), bin, runtime, signal) };
}

interface Found {
  readonly bin: string;
  readonly version: string;
}

function foundIn(output: string): Found | null {
  const [, bin, version] = /^(\/\S+)\n.*\(PostgreSQL\) ([0-9]+(?:\.[0-9]+)?)/.exec(output) ?? [];
  return bin === undefined || version === undefined ? null : { bin, version };
}

async function start(
  place: Place,
  bin: string,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<ScratchServer> {
  const server = await startPostgresIn(place, bin, signal);
  return {
    runtime,
    run: (name, request) => server.start({ ...request, command: join(bin, name) }),
    command: (command, request) => server.start({ ...request, command }),
    files: null,
    errors: server.errors,
    hasRunFull: () => server.hasRunFull(),
    hasDied: () => server.hasDied(),
    wasKilled: () => server.wasKilled(),
    close: () => server.close(),
  };
}
