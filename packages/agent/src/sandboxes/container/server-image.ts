import { text } from "node:stream/consumers";
import { RunError } from "../../errors/run-error.ts";
import type { Place } from "../place.ts";
import { CONTAINER_DEFAULTS, type ContainerSandboxConfig } from "../../config/sandbox-config.ts";
import { openContainerPlace } from "./container-place.ts";
import { findImage } from "./image.ts";
import { findEngineApi } from "./runtime-socket.ts";

const LOOKING_S = 120;

export interface ServerImageRequest<Programs> {
  readonly config: ContainerSandboxConfig;
  /** For messages: `PostgreSQL`. */
  readonly product: string;
  /** The image to use if the configuration names none. */
  readonly official: string;
  /**
   * Replaces `{major}` in the image's name: the backup's version. Null if the backup is not known.
   */
  readonly major: string | null;
  /** The image's user that the programs run as: an unprivileged one. */
  readonly user: string;
  /** For `/bin/sh` in the image: prints where the server is, and the server's version output. */
  readonly script: string;
  /** The meaning of such output; null if it is something else. */
  readonly read: (output: string) => Programs | null;
}

export interface ServerImage<Programs> {
  /** The requested name. */
  readonly name: string;
  readonly digest: string;
  readonly programs: Programs;
  /** A container of it, with the limits in the configuration. @throws RunError */
  readonly open: (signal: AbortSignal) => Promise<Place>;
}

/**
 * An image on this host that contains a database server; running it shows what it contains.
 * @throws RunError `tool_missing` without a runtime or the image, `sandbox_lacks` if the image has
 * no such server.
 */
export async function findServerImage<Programs>(
  request: ServerImageRequest<Programs>,
): Promise<ServerImage<Programs>> {
  const { config, product, major, user } = request;
  const api = await findEngineApi();
  const pattern = config.image ?? request.official;
  if (major === null && pattern.includes("{major}")) {
    throw new RunError(
      "sandbox_lacks",
      `the backup does not say its version of ${product}, so ${pattern} names no image: set one under sandbox.image`,
    );
  }
  const image = await findImage(api, pattern.replaceAll("{major}", major ?? ""));
  const open = (limits: ContainerSandboxConfig, signal: AbortSignal): Promise<Place> =>
    openContainerPlace({ api, imageId: image.id, user, limits, signal });
  const signal = AbortSignal.timeout(LOOKING_S * 1000);
  const place = await open({ ...CONTAINER_DEFAULTS, storage: "memory", timeLimit_s: LOOKING_S }, signal);
  try {
    const child = await place.start({ command: "/bin/sh", args: ["-c", request.script], signal });
    child.stdin.end();
    const programs = request.read(await text(child.stdout));
    const { code } = await child.exited;
    if (programs !== null)
      return { name: image.name, digest: image.digest, programs, open: (aborted) => open(config, aborted) };
    throw new RunError(
      "sandbox_lacks",
      `the image ${image.name} lacks a ${product} server or the user ${user} to run it (exit code ${code ?? "none"}): set an image that has both under sandbox.image`,
    );
  } finally {
    await place.close();
  }
}
