import type { Place } from "../../../sandboxes/place.ts";
import { findServerImage } from "../../../sandboxes/container/server-image.ts";
import { openIsolatedPlace } from "../../../sandboxes/isolation/open-isolated-place.ts";
import type { ContainerSandboxConfig } from "../../../config/sandbox-config.ts";
import type { RunContext } from "../../../sandboxes/run-context.ts";
import {
  findServerPrograms,
  PRINT_SERVER_PROGRAMS,
  printedServerPrograms,
  type Product,
  type ServerPrograms,
} from "../connection/programs.ts";

/** A place where a scratch server can run. Nothing has been started yet. */
export interface FoundPlace {
  readonly kind: "process" | "container";
  /** For messages: what contains these programs, and what to do if they do not fit. */
  readonly holder: string;
  readonly remedy: string;
  readonly programs: ServerPrograms;
  /** The server's memory, in MiB; infinite on the host. */
  readonly memory_mb: number;
  /** Only for a container. */
  readonly imageDigest?: string;
  readonly open: (context: RunContext) => Promise<Place>;
}

/** @throws RunError `tool_missing` */
export async function findHostPlace(product: Product): Promise<FoundPlace> {
  return {
    kind: "process",
    holder: "this host",
    remedy: `install ${product === "MariaDB" ? "mariadb-server" : "mysql-server"} of that version or newer`,
    programs: await findServerPrograms(product),
    memory_mb: Number.POSITIVE_INFINITY,
    open: openIsolatedPlace,
  };
}

/**
 * Finds an image on this host: the one in the configuration, else the official one of the backup's
 * release, such as 10.11.
 * @throws RunError `tool_missing` if there is no runtime or no image, `sandbox_lacks` if the image
 * has no server.
 */
export async function findContainerPlace(
  config: ContainerSandboxConfig,
  product: Product,
  version: unknown,
): Promise<FoundPlace> {
  const repository = product === "MariaDB" ? "mariadb" : "mysql";
  const release = typeof version === "string" ? /^[0-9]{1,3}\.[0-9]{1,3}/.exec(version) : null;
  const image = await findServerImage({
    config,
    product,
    official: `docker.io/library/${repository}:{major}`,
    major: release?.[0] ?? null,
    // The official images of both products have this user, as Debian's packages do.
    user: "mysql",
    script: PRINT_SERVER_PROGRAMS,
    read: printedServerPrograms,
  });
  return {
    kind: "container",
    holder: `the image ${image.name}`,
    remedy: `name one of that version or newer under sandbox.image ("${repository}:{major}" follows the backup's version)`,
    programs: image.programs,
    memory_mb: config.memory_mb,
    imageDigest: image.digest,
    open: ({ signal }) => image.open(signal),
  };
}
