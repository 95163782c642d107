import { isAlive } from "../../processes/process-tag.ts";
import type { EngineApi } from "./engine-api.ts";
import { type ContainerLeftover, removeForCertain } from "./remove.ts";

/**
 * On all our containers and volumes; its value is the process that they belong to (`ProcessTag`).
 */
export const OWNER_LABEL = "dev.attestore.sandbox";

/** Containers and volumes whose process is gone. @throws EngineApiError */
export async function findAbandoned(api: EngineApi): Promise<ContainerLeftover[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [OWNER_LABEL] }));
  const containers = (await api.call("GET", `/containers/json?all=1&filters=${filters}`)) as unknown[] | null;
  const volumes = (await api.call("GET", `/volumes?filters=${filters}`)) as { Volumes?: unknown[] | null };
  return [
    ...abandoned(containers ?? []).map(({ Id }) => ({ kind: "container" as const, name: String(Id) })),
    ...abandoned(volumes.Volumes ?? []).map(({ Name }) => ({ kind: "volume" as const, name: String(Name) })),
  ];
}

interface Labelled {
  readonly Id?: unknown;
  readonly Name?: unknown;
  readonly Labels?: Readonly<Record<string, unknown>> | null;
}

/**
 * Checks the label itself: when things are removed, we don't rely on a runtime to apply the filter.
 */
function abandoned(records: readonly unknown[]): Labelled[] {
  return (records as Labelled[]).filter(({ Labels }) => {
    const owner = Labels?.[OWNER_LABEL];
    return typeof owner === "string" && !isAlive(owner);
  });
}

/**
 * Removes everything that `findAbandoned` finds, and returns it. Things that another run removes at
 * the same time count as removed too.
 */
export async function reapContainers(api: EngineApi): Promise<ContainerLeftover[]> {
  const found = await findAbandoned(api);
  for (const each of found) await removeForCertain(api, each);
  return found;
}
