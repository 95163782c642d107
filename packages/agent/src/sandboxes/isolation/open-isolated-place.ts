import { mkdir, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { RunContext } from "../run-context.ts";
import { stopIfAborted } from "../../errors/run-error.ts";
import type { Place } from "../place.ts";
import { openProcessPlace } from "../process/process-place.ts";
import { makeScratchDirectory } from "../process/scratch-directory.ts";
import { ProcessWatch } from "../process/process-watch.ts";
import { Confinement, type IsolationLevel, type ReachedLimit } from "../bounds/confinement.ts";
import type { SandboxLimits } from "../bounds/sandbox-limits.ts";
import { enterNamespaces } from "./namespaces.ts";
import { openRemotePlace } from "./remote-place.ts";
import { connectSandboxUnit, hasSandboxUnit } from "./sandbox-unit.ts";
import { measuredAtEnd } from "../bounds/measured-at-end.ts";
import { watchDisk } from "../bounds/watch-disk.ts";

const PROCESSES = 512;
/**
 * A program that reaches the limit of one file is beyond the limit of all, even if a file grows in
 * large steps.
 */
const FILE_SLACK = 256 << 20;
/** attestore-sandbox@.service restores on this file system. */
const UNIT_CACHE = "/var/cache";

/**
 * A throw-away place on this host for programs that handle a dump, confined as well as this host
 * and this process allow. `context.confinement` then says how.
 * @throws RunError
 */
export async function openIsolatedPlace(context: RunContext): Promise<Place> {
  const { signal, scratchDir } = context;
  const confinement = context.confinement ?? new Confinement(null);
  const opened = (level: IsolationLevel, place: Place): Place => {
    confinement.heldBy(level);
    return place;
  };
  const restoredTo = (await hasSandboxUnit()) ? UNIT_CACHE : scratchDir;
  confinement.fitTo(await freeBytes(restoredTo));
  const limits: SandboxLimits = {
    disk_bytes: confinement.diskBytes,
    file_bytes: confinement.fileBytes + FILE_SLACK,
    processes: PROCESSES,
  };
  const onLimit = (limit: ReachedLimit): void => confinement.reach(limit);
  stopIfAborted(signal);
  if (await hasSandboxUnit())
    return opened("unit", await openRemotePlace(await connectSandboxUnit(), limits, onLimit));
  const place = await openInNamespaces(scratchDir, confinement, limits);
  if (place !== null) return opened("namespaces", place);
  const bounds = { ...limits, memory_bytes: confinement.memoryBytes, onLimit };
  return opened(process.getuid?.() === 0 ? "user" : "none", await openProcessPlace(scratchDir, bounds));
}

async function freeBytes(directory: string): Promise<number> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch(() => undefined);
  const { bavail, bsize } = await statfs(directory).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize;
}

async function openInNamespaces(
  scratchDir: string,
  confinement: Confinement,
  limits: SandboxLimits,
): Promise<Place | null> {
  const { programs } = confinement;
  const onLimit = (limit: ReachedLimit): void => confinement.reach(limit);
  const directory = await makeScratchDirectory(scratchDir, null);
  // Only we walk into this directory, so nobody here meets a restored set-user-ID program.
  const data = join(directory.path, "data");
  await mkdir(data, { mode: 0o700 });
  const stream = await enterNamespaces({ directory: data, root: dirname(scratchDir), programs });
  if (stream === null) {
    await directory.remove();
    return null;
  }
  const stopWatching = new AbortController();
  void watchDisk(data, limits.disk_bytes, stopWatching.signal).then(async (limit) => {
    if (limit === null) return;
    onLimit(limit);
    await stream.close();
  });
  if (stream.pid !== undefined) {
    const watch = new ProcessWatch(null);
    watch.add(stream.pid);
    void watch.exceeds(confinement.memoryBytes, stopWatching.signal).then(async (isTooMuch) => {
      if (!isTooMuch) return;
      onLimit("memory");
      await stream.close();
    });
  }
  const close = async (): Promise<void> => {
    stopWatching.abort();
    await stream.close();
    await directory.remove();
  };
  const place = await openRemotePlace({ ...stream, close }, limits, onLimit);
  return { ...measuredAtEnd(place, data, limits, onLimit), shared: data };
}

/** How well a restore would be confined here now. */
export async function isolationHere(scratchDir: string): Promise<IsolationLevel> {
  const confinement = new Confinement(null);
  const place = await openIsolatedPlace({
    scratchDir,
    signal: AbortSignal.timeout(30_000),
    confinement,
  });
  await place.close();
  return confinement.level ?? "none";
}
