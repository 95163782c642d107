import { resolve } from "node:path";
import { RunError } from "../../errors/run-error.ts";
import { openLocalRepository } from "./local-repository.ts";
import { type Repository, UnreadableRepository } from "./repository.ts";

/**
 * The repository that `restic --repo` would take, to be read by this process.
 * @throws RunError `ciphertext_unavailable`, `sandbox_lacks` for a kind that only restic itself reads
 */
export async function openRepository(location: string): Promise<Repository> {
  try {
    return await opened(location);
  } catch (error) {
    if (!(error instanceof UnreadableRepository)) throw error;
    throw new RunError("ciphertext_unavailable", error.message, { cause: error });
  }
}

function opened(location: string): Promise<Repository> {
  const [, kind = "local"] = /^([a-z0-9]+):/.exec(location) ?? [];
  switch (kind) {
    case "local":
      return openLocalRepository(resolve(location.replace(/^local:/, "")));
    default:
      return Promise.reject(notReadHere(kind));
  }
}

function notReadHere(kind: string): RunError {
  return new RunError(
    "sandbox_lacks",
    `restic runs in a sandbox without network, and the agent itself does not read ${kind}: repositories: reach it as rclone:REMOTE:PATH ` +
      "or from a directory of this host; or say as_agent: true in config.yaml, with which restic runs as the agent, with its files and the network",
  );
}
