import { isAlive } from "../../processes/process-tag.ts";
import type { EngineApi } from "./engine-api.ts";
import { type ContainerLeftover, removeForCertain } from "./remove.ts";

/**
 * On all containers and volumes of ours; its value is the process that they belong to
 * (`ProcessTag`).
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
 * By the label itself: whether a runtime heeds the filter is not left to it, where things are
 * removed.
 */
function abandoned(records: readonly unknown[]): Labelled[] {
  return (records as Labelled[]).filter(({ Labels }) => {
    const owner = Labels?.[OWNER_LABEL];
    return typeof owner === "string" && !isAlive(owner);
  });
}

/**
 * Removes what `findAbandoned` finds, and says what that was. What another run removes at the same
 * time is gone, too.
 */
export async function reapContainers(api: EngineApi): Promise<ContainerLeftover[]> {
  const found = await findAbandoned(api);
  for (const each of found) await removeForCertain(api, each);
  return found;
}
