import type { QueryKey } from "@tanstack/react-query";
import { queryClient } from "../../api/query-client.ts";
import { strings } from "../../text/strings.ts";
import { messageOf } from "./failure-panel.tsx";
import { showToast } from "./toasts.ts";

const text = strings.toast;

interface Saving<Fields> {
  /** The record's. */
  id: string;
  /** How the keys of those queries begin that may hold the record. */
  within: readonly QueryKey[];
  before: Fields;
  after: Fields;
  call: (fields: Fields) => Promise<unknown>;
  /** What was done, such as `Renamed to orders.` */
  done: string;
}

/**
 * Saves fields of a record: for what can be taken back, and what the service is not expected to
 * refuse. They show at once wherever the record does, and a toast can undo it. If it could not be
 * saved, what was there before is back, and a toast says why.
 */
export async function save<Fields extends object>(saving: Saving<Fields>): Promise<void> {
  const { before, after, done } = saving;
  if (!(await saved(saving))) return;
  const undo = async (): Promise<void> => {
    const back = { ...saving, before: after, after: before, done: text.undone };
    if (await saved(back)) showToast(text.undone);
  };
  showToast(done, { action: { label: text.undo, run: () => void undo() } });
}

/** Whether it was. */
async function saved<Fields extends object>(saving: Saving<Fields>): Promise<boolean> {
  const { id, within, before, after, call } = saving;
  // An answer that is on its way would show what was there before.
  await Promise.all(within.map((queryKey) => queryClient.cancelQueries({ queryKey })));
  show(id, within, after);
  try {
    // As a mutation, so that the end of a session is noticed as with any other.
    await queryClient
      .getMutationCache()
      .build(queryClient, { mutationFn: () => call(after) })
      .execute(undefined);
    return true;
  } catch (error) {
    show(id, within, before);
    showToast(text.notSaved(messageOf(error)), {
      isFailure: true,
      action: { label: text.again, run: () => void save(saving) },
    });
    return false;
  } finally {
    for (const queryKey of within) void queryClient.invalidateQueries({ queryKey });
  }
}

function show(id: string, within: readonly QueryKey[], fields: object): void {
  for (const queryKey of within)
    queryClient.setQueriesData({ queryKey }, (data: unknown) => withFields(data, id, fields));
}

/** The data with these fields in each record of this id, however deep; itself if there is none. */
export function withFields(data: unknown, id: string, fields: object): unknown {
  if (typeof data !== "object" || data === null) return data;
  if (Array.isArray(data)) {
    const items = data.map((item) => withFields(item, id, fields));
    return items.some((item, index) => item !== data[index]) ? items : data;
  }
  const record = data as Record<string, unknown>;
  if (record["id"] === id) return { ...record, ...fields };
  const changed = Object.entries(record).flatMap(([name, value]) => {
    const next = withFields(value, id, fields);
    return next === value ? [] : [[name, next]];
  });
  return changed.length === 0 ? data : { ...record, ...Object.fromEntries(changed) };
}
