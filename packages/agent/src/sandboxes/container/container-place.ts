import { randomBytes } from "node:crypto";
import { type Child } from "../../processes/child.ts";
import { ownProcessTag } from "../../processes/process-tag.ts";
import { RunError, stopIfAborted } from "../../errors/run-error.ts";
import type { Place, PlaceProgram } from "../place.ts";
import type { ContainerSandboxConfig } from "../../config/sandbox-config.ts";
import { containerChild } from "./container-child.ts";
import { type EngineApi, EngineApiError } from "./engine-api.ts";
import { OWNER_LABEL, reapContainers } from "./leftovers.ts";
import { removeForCertain } from "./remove.ts";

const HOME = "/attestore/data";
const SOCKETS = "/attestore/run";
const MIB = 1024 * 1024;

/**
 * The command that keeps a container running: it ends when our connection to its stdin does, or at
 * the time limit. Runs as root, without capabilities. The shell stays its first process, because
 * the timeout of newer coreutils (seen in 9.10) refuses to be the first.
 */
const MAIN = 'chmod 1777 /attestore/data && { timeout -s KILL "$0" cat; exit; }';

/**
 * Runs a program, then reads the rest of its stdin. If a program ends while more is sent to it, a
 * runtime's streams break, and its last output is lost.
 */
const DRAINING = ["/bin/sh", "-c", '"$@"; code=$?; cat >/dev/null; exit "$code"', "sh"];

export interface ContainerRequest {
  readonly api: EngineApi;
  /** `sha256:…`, so that the image which was examined is the one that runs. */
  readonly imageId: string;
  /** The image's user that the programs run as: an unprivileged one. */
  readonly user: string;
  readonly limits: Omit<ContainerSandboxConfig, "kind" | "image">;
  readonly signal: AbortSignal;
}

/**
 * A container without network or capabilities, whose only writable file system is thrown away with
 * it. Data comes and goes through the streams of its programs, so nothing of this host is mounted
 * in it.
 * It ends by itself when this process ends, however that happens (the runtime then sees our
 * connection close), and the runtime removes it; the next run removes its volume
 * (`reapContainers`).
 * @throws RunError
 */
export async function openContainerPlace(request: ContainerRequest): Promise<Place> {
  const { api, user, limits, signal } = request;
  await reapContainers(api);
  const name = `attestore-${ownProcessTag()}-${randomBytes(4).toString("hex")}`;
  const labels = { [OWNER_LABEL]: ownProcessTag() };
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= remove(api, name, limits.storage));
  try {
    stopIfAborted(signal);
    if (limits.storage === "disk") await api.call("POST", "/volumes/create", { Name: name, Labels: labels });
    await api.call("POST", `/containers/create?name=${name}`, specification(request, name, labels));
    // Before the start: from then on Podman's conmon and Docker both keep the bytes sent to stdin.
    const main = await api.hijack(
      `/containers/${name}/attach?stream=1&stdin=1&stdout=1&stderr=1&logs=0`,
      undefined,
    );
    main.socket.on("error", () => undefined);
    main.socket.resume();
    await api.call("POST", `/containers/${name}/start`);
    return {
      kind: "container",
      home: HOME,
      sockets: SOCKETS,
      self: [],
      shared: null,
      start: (program) => startIn(api, name, user, program),
      close: async () => {
        await close();
        main.socket.destroy();
      },
    };
  } catch (error) {
    await close();
    stopIfAborted(signal);
    if (!(error instanceof EngineApiError)) throw error;
    throw new RunError("sandbox_failed", `the container could not be started: ${error.message}`, {
      cause: error,
    });
  }
}

function specification(
  { imageId, limits }: ContainerRequest,
  volume: string,
  labels: Record<string, string>,
): unknown {
  const memory = limits.memory_mb * MIB;
  const scratch = "rw,nosuid,nodev,noexec,mode=1777";
  return {
    Image: imageId,
    User: "0:0",
    Entrypoint: ["/bin/sh", "-c", MAIN],
    Cmd: [String(limits.timeLimit_s)],
    WorkingDir: "/",
    Labels: labels,
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    NetworkDisabled: true,
    HostConfig: {
      AutoRemove: true,
      NetworkMode: "none",
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      ReadonlyRootfs: true,
      Privileged: false,
      IpcMode: "private",
      LogConfig: { Type: "none", Config: {} },
      Memory: memory,
      // No swap, so that restored data does not get there.
      MemorySwap: memory,
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.pids,
      // Set explicitly: otherwise Podman's API uses the kernel's own maximum, which not every host
      // allows.
      Ulimits: [
        { Name: "nofile", Soft: 1024, Hard: 4096 },
        { Name: "nproc", Soft: 4096, Hard: 4096 },
      ],
      ShmSize: Math.max(64 * MIB, Math.floor(memory / 4)),
      Tmpfs: {
        "/tmp": `${scratch},size=64m`,
        [SOCKETS]: `${scratch},size=1m`,
        // Smaller than the memory, so that a full disk shows as such, and not as a process killed
        // for lack of memory.
        ...(limits.storage === "memory" ? { [HOME]: `${scratch},size=${Math.floor(memory / 2)}` } : {}),
      },
      ...(limits.storage === "disk" ? { Mounts: [{ Type: "volume", Source: volume, Target: HOME }] } : {}),
    },
  };
}

async function startIn(
  api: EngineApi,
  container: string,
  user: string,
  { command, args, env, cwd, signal, isFed = false }: PlaceProgram,
): Promise<Child> {
  stopIfAborted(signal);
  try {
    const created = await api.call("POST", `/containers/${container}/exec`, {
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
      User: user,
      WorkingDir: cwd ?? HOME,
      Env: Object.entries({ LC_ALL: "C.UTF-8", HOME, ...env }).map(([name, value]) => `${name}=${value}`),
      Cmd: [...(isFed ? DRAINING : []), command, ...args],
    });
    const { Id: id } = created as { Id?: unknown };
    if (typeof id !== "string")
      throw new EngineApiError("the runtime returned an exec without an id", "invalid", null);
    const streams = await api.hijack(`/exec/${id}/start`, { Detach: false, Tty: false });
    return containerChild(api, id, streams, signal);
  } catch (error) {
    stopIfAborted(signal);
    if (!(error instanceof EngineApiError)) throw error;
    throw new RunError(
      "sandbox_failed",
      (await hasEnded(api, container))
        ? "the container ended: it reached sandbox.time_limit_s or was stopped from outside"
        : `${command} could not be started in the container: ${error.message}`,
      { cause: error },
    );
  }
}

/** If its runtime is about to remove a container, it has ended, whatever the runtime says. */
async function hasEnded(api: EngineApi, container: string): Promise<boolean> {
  try {
    const inspected = await api.call("GET", `/containers/${container}/json`);
    return (inspected as { State?: { Running?: unknown } | null }).State?.Running !== true;
  } catch (error) {
    if (error instanceof EngineApiError) return error.status !== null;
    throw error;
  }
}

async function remove(api: EngineApi, name: string, storage: "disk" | "memory"): Promise<void> {
  await removeForCertain(api, { kind: "container", name });
  if (storage === "disk") await removeForCertain(api, { kind: "volume", name });
}
