import { resolve } from "node:path";
import { RunError } from "../../errors/run-error.ts";
import { openLocalRepository } from "./local-repository.ts";
import { openRcloneRepository } from "./rclone-repository.ts";
import { openRestRepository } from "./rest-repository.ts";
import { openS3Repository } from "./s3-repository.ts";
import { DamagedRepository, type Repository, UnreadableRepository } from "./repository.ts";

/**
 * Opens the repository that `restic --repo` would use, to be read by this process.
 * @throws RunError `ciphertext_unavailable`, `sandbox_lacks` for a kind that only restic itself can
 * read
 */
export async function openRepository(location: string): Promise<Repository> {
  try {
    return await opened(location);
  } catch (error) {
    if (!(error instanceof UnreadableRepository)) throw error;
    throw new RunError("ciphertext_unavailable", error.message, { cause: error });
  }
}

/**
 * Returns where the repository is, after finding its `config` there.
 * @throws RunError `ciphertext_unavailable`, `source_missing`, `sandbox_lacks`
 */
export async function requireRepository(location: string, signal: AbortSignal): Promise<string> {
  const repository = await openRepository(location);
  const { where } = repository;
  try {
    if ((await repository.size({ type: "config", name: "" }, signal)) !== null) return where;
  } catch (error) {
    const isOfIt = error instanceof UnreadableRepository || error instanceof DamagedRepository;
    if (!isOfIt) throw error;
    throw new RunError("ciphertext_unavailable", error.message, { cause: error });
  } finally {
    await repository.close();
  }
  throw new RunError("source_missing", `there is no repository at ${where}`);
}

function opened(location: string): Promise<Repository> {
  const [, kind = "local"] = /^([a-z0-9]+):/.exec(location) ?? [];
  switch (kind) {
    case "local":
      return openLocalRepository(resolve(location.replace(/^local:/, "")));
    case "rest":
      return openRestRepository(location.slice("rest:".length));
    case "s3":
      return openS3Repository(location.slice("s3:".length));
    case "rclone":
      return openRcloneRepository(location.slice("rclone:".length));
    default:
      return Promise.reject(notReadHere(kind));
  }
}

function notReadHere(kind: string): RunError {
  return new RunError(
    "sandbox_lacks",
    `restic runs in a sandbox without network, and the agent itself does not read ${kind}: repositories: reach it as rclone:REMOTE:PATH ` +
      "or from a directory of this host; or set as_agent: true in config.yaml: restic then runs as the agent, with its files and the network",
  );
}
