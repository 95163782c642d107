import { RunError } from "../../errors/run-error.ts";
import { type EngineApi, EngineApiError } from "./engine-api.ts";

export interface Image {
  /** The requested name. */
  readonly name: string;
  /** Containers are made by this, so nobody can substitute another image in between. */
  readonly id: string;
  /** `sha256:…`: of the registry's manifest or, for an image without a registry, its id. */
  readonly digest: string;
}

/**
 * An image that this host has. Images are never pulled: the host's people decide what runs on it,
 * not a tag that somebody moves.
 * @throws RunError `tool_missing`
 */
export async function findImage(api: EngineApi, name: string): Promise<Image> {
  let answer: unknown;
  try {
    answer = await api.call("GET", `/images/${encodeURIComponent(name)}/json`);
  } catch (error) {
    if (!(error instanceof EngineApiError)) throw error;
    const isMissing = error.status === 404;
    throw new RunError(
      "tool_missing",
      isMissing
        ? `the image ${name} is not on this host: pull it (podman pull ${name}, or docker pull), or set another under sandbox.image`
        : `the image ${name} cannot be inspected: ${error.message}`,
      { cause: error },
    );
  }
  const { Id, RepoDigests } = answer as { Id?: unknown; RepoDigests?: unknown };
  const id = typeof Id === "string" ? /^(?:sha256:)?([0-9a-f]{64})$/.exec(Id)?.[1] : undefined;
  if (id === undefined) throw new RunError("sandbox_failed", `the image ${name} has no id`);
  const repository = name.replace(/@.*$/, "").replace(/:[^/:]*$/, "");
  const digests = (Array.isArray(RepoDigests) ? RepoDigests : []).flatMap((each: unknown) => {
    const [, from = "", digest] = /^(.+)@(sha256:[0-9a-f]{64})$/.exec(String(each)) ?? [];
    return digest === undefined ? [] : [{ isOwn: from.endsWith(repository), digest }];
  });
  const digest = (digests.find(({ isOwn }) => isOwn) ?? digests[0])?.digest ?? `sha256:${id}`;
  return { name, id: `sha256:${id}`, digest };
}
