import { stat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "@attestore/host/errno";
import { RunError } from "../../errors/run-error.ts";
import { EngineApi, EngineApiError } from "./engine-api.ts";

const INSTALL =
  "install one (apt-get install podman && systemctl enable --now podman.socket), or set DOCKER_HOST=unix:///path to its socket";

/**
 * The Docker Engine API of this host: the first of DOCKER_HOST, Docker's socket and Podman's that
 * answers.
 * @throws RunError `tool_missing` if none does; the message says what was found at each place.
 */
export async function findEngineApi(environment: NodeJS.ProcessEnv = process.env): Promise<EngineApi> {
  const troubles: string[] = [];
  for (const socket of candidates(environment)) {
    const trouble = await troubleWith(socket);
    if (trouble === null) return new EngineApi(socket);
    troubles.push(trouble);
  }
  throw new RunError("tool_missing", `no container runtime answers: ${troubles.join("; ")}. ${INSTALL}`);
}

function candidates(environment: NodeJS.ProcessEnv): string[] {
  const host = environment["DOCKER_HOST"] ?? "";
  if (host !== "") {
    const path = /^unix:\/\/(\/.+)$/.exec(host)?.[1];
    if (path !== undefined) return [path];
    // The restored data would travel through it.
    throw new RunError(
      "tool_missing",
      "DOCKER_HOST is not a unix socket: a sandbox runs only on this host, so set it to unix:///path/of/the/socket",
    );
  }
  const own = environment["XDG_RUNTIME_DIR"] ?? `/run/user/${process.getuid?.() ?? 0}`;
  return [
    "/var/run/docker.sock",
    join(own, "docker.sock"),
    "/run/podman/podman.sock",
    join(own, "podman/podman.sock"),
  ];
}

/** Null if an engine answers there. */
async function troubleWith(socket: string): Promise<string | null> {
  try {
    if (!(await stat(socket)).isSocket()) return `${socket} is not a socket`;
    await new EngineApi(socket).ping(AbortSignal.timeout(10_000));
    return null;
  } catch (error) {
    const code = error instanceof EngineApiError ? error.code : errorCode(error);
    if (code === "ENOENT") return `${socket} does not exist`;
    if (code === "EACCES" || code === "EPERM") {
      const group = socket.endsWith("docker.sock") ? " (is this user in the group docker?)" : "";
      return `${socket} can't be opened by this user${group}`;
    }
    return `${socket} does not answer (${code ?? "timeout"})`;
  }
}
