import { text } from "node:stream/consumers";
import { join } from "node:path";
import { CouldNotRun } from "../../runs/could-not-run.ts";
import { openContainerPlace } from "../../sandboxes/container/container-place.ts";
import type { EngineApi } from "../../sandboxes/container/engine-api.ts";
import { findImage, type Image } from "../../sandboxes/container/image.ts";
import { findEngineApi } from "../../sandboxes/container/runtime-socket.ts";
import type { Place } from "../../sandboxes/place.ts";
import { startPostgresIn } from "../../sandboxes/process/scratch-postgres.ts";
import { CONTAINER_DEFAULTS, type ContainerSandboxConfig } from "../../sandboxes/sandbox-config.ts";
import type { Runtime } from "../engine.ts";
import type { ScratchServer } from "../scratch-server.ts";
import { majorOf } from "./version.ts";

const IMAGE = "docker.io/library/postgres:{major}";
/** In the official image as in Debian's package. */
const USER = "postgres";

/** Where Debian and the PostgreSQL project's packages have the server, and whatever the image has on its PATH. */
const FIND_SERVER = `for bin in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin "$(dirname "$(command -v postgres || echo /)")"; do
  [ -x "$bin/postgres" ] && echo "$bin" && exec "$bin/postgres" --version; done; exit 3`;

export interface ContainerServer {
  readonly runtime: Runtime;
  start(signal: AbortSignal): Promise<ScratchServer>;
}

/**
 * A PostgreSQL of exactly the backup's major version in a container; so far only its image was looked at, by running it.
 * `major` 0 stands for a backup that is not known: then the image has to be named in the configuration.
 * @throws CouldNotRun `tool_missing` without a runtime or the image, `tool_too_old` for an image of another major version.
 */
export async function findContainerServer(
  config: ContainerSandboxConfig,
  major: number,
): Promise<ContainerServer> {
  const api = await findEngineApi();
  const pattern = config.image ?? IMAGE;
  if (major === 0 && pattern.includes("{major}")) {
    throw new CouldNotRun(
      "sandbox_lacks",
      `the backup does not say which version of PostgreSQL it is of, so ${pattern} names no image: name one under sandbox.image`,
    );
  }
  const image = await findImage(api, pattern.replaceAll("{major}", String(major)));
  const signal = AbortSignal.timeout(120_000);
  const place = await open(
    api,
    image,
    { ...CONTAINER_DEFAULTS, storage: "memory", timeLimit_s: 120 },
    signal,
  );
  let found: Found;
  try {
    found = await lookInto(place, image, signal);
  } finally {
    await place.close();
  }
  const has = majorOf(found.version);
  if (major !== 0 && has !== major) {
    throw new CouldNotRun(
      "tool_too_old",
      `the image ${image.name} holds PostgreSQL ${found.version}, the backup is of ${major}: name an image of PostgreSQL ${major} under sandbox.image ("postgres:{major}" follows the backup)`,
    );
  }
  const runtime: Runtime = {
    kind: "container",
    engine: "postgresql",
    engine_version: found.version,
    image_digest: image.digest,
  };
  return {
    runtime,
    start: async (aborted) => start(await open(api, image, config, aborted), found, runtime, aborted),
  };
}

interface Found {
  readonly bin: string;
  readonly version: string;
}

function open(
  api: EngineApi,
  image: Image,
  limits: ContainerSandboxConfig,
  signal: AbortSignal,
): Promise<Place> {
  return openContainerPlace({ api, imageId: image.id, user: USER, limits, signal });
}

async function lookInto(place: Place, image: Image, signal: AbortSignal): Promise<Found> {
  const child = await place.start({ command: "/bin/sh", args: ["-c", FIND_SERVER], signal });
  child.stdin.end();
  const output = await text(child.stdout);
  const { code } = await child.exited;
  const [, bin, version] = /^(\/\S+)\n.*\(PostgreSQL\) ([0-9]+(?:\.[0-9]+)?)/.exec(output) ?? [];
  if (bin !== undefined && version !== undefined) return { bin, version };
  throw new CouldNotRun(
    "sandbox_lacks",
    `the image ${image.name} has no PostgreSQL server and a user ${USER} to run it (exit code ${code ?? "none"}): name one that has under sandbox.image`,
  );
}

async function start(
  place: Place,
  { bin }: Found,
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
    hasDied: () => server.hasDied(),
    close: () => server.close(),
  };
}
