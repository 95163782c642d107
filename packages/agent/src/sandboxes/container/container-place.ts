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
 * What keeps a container going: it ends when our connection to its stdin does, or at the time
 * limit. Root, without a capability. The shell stays its first process, which the timeout of newer
 * coreutils (seen in 9.10) refuses to be.
 */
const MAIN = 'chmod 1777 /attestore/data && { timeout -s KILL "$0" cat; exit; }';

/**
 * Runs a program, then reads the rest of its stdin: of one that ends while more is sent to it, a
 * runtime's streams break, and what it said last is gone.
 */
const DRAINING = ["/bin/sh", "-c", '"$@"; code=$?; cat >/dev/null; exit "$code"', "sh"];

export interface ContainerRequest {
  readonly api: EngineApi;
  /** `sha256:…`, so that what was looked at is what runs. */
  readonly imageId: string;
  /** Of the image, that the programs run as: an unprivileged one. */
  readonly user: string;
  readonly limits: Omit<ContainerSandboxConfig, "kind" | "image">;
  readonly signal: AbortSignal;
}

/**
 * A container without network, capabilities or a writable file system but for what is thrown away with it. Data come and go
 * through the streams of its programs, so nothing of this host is mounted in it.
 *
 * It ends by itself when this process does, however that ends (the runtime then sees our connection close), and the runtime
 * removes it; its volume goes with the next run (`reapContainers`).
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
    // Before the start: Podman's conmon and Docker both keep what is attached to stdin from then
    // on.
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
      // No swap: what was restored shall not get there.
      MemorySwap: memory,
      NanoCpus: Math.round(limits.cpus * 1e9),
      PidsLimit: limits.pids,
      // Said, because Podman's API otherwise takes the kernel's own maximum, which not every host
      // lets it have.
      Ulimits: [
        { Name: "nofile", Soft: 1024, Hard: 4096 },
        { Name: "nproc", Soft: 4096, Hard: 4096 },
      ],
      ShmSize: Math.max(64 * MIB, Math.floor(memory / 4)),
      Tmpfs: {
        "/tmp": `${scratch},size=64m`,
        [SOCKETS]: `${scratch},size=1m`,
        // Smaller than the memory, so that a full disk is what it looks like, not a process killed
        // for want of memory.
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

/** One that its runtime is about to remove has ended, whatever the runtime says of that. */
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
