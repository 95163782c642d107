import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ConfigAnswer, type DeliveredConfigRequest, isId } from "@attestore/contract";
import { replaceJsonFile } from "@attestore/host/durable-files";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

/**
 * `adding`: config.yaml is being changed, and `writes` is the addition. `answered`: the answer is
 * on disk. `told`: the service has it.
 */
export type ConfigRequestState = "received" | "adding" | "answered" | "told";

export interface JournaledRequest {
  readonly v: 1;
  readonly id: string;
  /** The user, as the service named them; null for a request that could not be read. */
  readonly asked_by: string | null;
  readonly request: DeliveredConfigRequest["request"] | null;
  readonly received_at: string;
  readonly state: ConfigRequestState;
  readonly writes: unknown;
  readonly answer: ConfigAnswer | null;
}

/** Enough to name the result of an earlier request; what config.yaml got is in the log. */
const MOST_KEPT = 200;

/**
 * Records a request once. A known id, in any state, is not taken again. Returns whether it was
 * taken: it is not where too many wait for an answer, and comes again.
 */
export async function journalRequest(
  layout: Layout,
  delivered: DeliveredConfigRequest | { readonly id: string },
  at = new Date(),
): Promise<boolean> {
  const path = fileOf(layout, delivered.id);
  if (existsSync(path) || !(await makeRoom(layout))) return false;
  await replaceJsonFile(path, {
    v: 1,
    id: delivered.id,
    asked_by: "asked_by" in delivered ? delivered.asked_by : null,
    request: "request" in delivered ? delivered.request : null,
    received_at: at.toISOString(),
    state: "received",
    writes: null,
    answer: null,
  } satisfies JournaledRequest);
  return true;
}

export async function updateRequest(
  layout: Layout,
  entry: JournaledRequest,
  change: Partial<Pick<JournaledRequest, "state" | "writes" | "answer">>,
): Promise<JournaledRequest> {
  // The file on disk, not the state that the caller read before somebody else changed it.
  const changed = { ...((await findRequest(layout, entry.id)) ?? entry), ...change };
  await replaceJsonFile(fileOf(layout, entry.id), changed);
  return changed;
}

/** All that are kept, oldest first. */
export async function journaledRequests(layout: Layout): Promise<JournaledRequest[]> {
  const entries: JournaledRequest[] = [];
  for (const id of await ids(layout)) {
    const entry = await findRequest(layout, id);
    if (entry !== null) entries.push(entry);
  }
  return entries;
}

export async function findRequest(layout: Layout, id: string): Promise<JournaledRequest | null> {
  return (await readJson(fileOf(layout, id))) as JournaledRequest | null;
}

/** The oldest go whose answer the service has. Whether there is room for one more. */
async function makeRoom(layout: Layout): Promise<boolean> {
  const all = await ids(layout);
  let over = all.length - MOST_KEPT + 1;
  for (const id of all) {
    if (over <= 0) break;
    if ((await findRequest(layout, id))?.state !== "told") continue;
    await rm(fileOf(layout, id));
    over -= 1;
  }
  return over <= 0;
}

async function ids(layout: Layout): Promise<string[]> {
  if (!existsSync(layout.configRequests)) return [];
  return (await readdir(layout.configRequests))
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length))
    .filter((id) => isId("configRequest", id))
    .toSorted();
}

function fileOf(layout: Layout, id: string): string {
  return join(layout.configRequests, `${id}.json`);
}
