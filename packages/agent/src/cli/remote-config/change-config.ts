import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { replaceFile } from "@attestore/host/durable-files";
import { isMap, isSeq, parse, type Document } from "yaml";
import { planConfigEdit } from "../../config/edit-config.ts";
import { updateRequest, type JournaledRequest } from "../../journal/config-requests.ts";
import { isEventKnown, spoolSignedEvent } from "../../receipts/spooled-event.ts";
import { readSourceIds } from "../../state/source-ids.ts";
import type { Layout } from "../../state/layout.ts";
import { readText } from "../../state/read-json.ts";
import { UserError } from "../../errors/user-error.ts";
import { refused } from "./refused.ts";

/**
 * The addition to config.yaml: one source, or one check of a source. Written to the journal first.
 */
export type Addition =
  | {
      readonly kind: "source";
      readonly source: string;
      readonly database: string;
      readonly entry: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: "check";
      readonly source: string;
      readonly entry: Readonly<Record<string, unknown>> & { readonly id: string };
    };

/**
 * Adds to config.yaml. The order of writes is: the journal has the addition; the log's event is
 * signed and on disk; the secret's file; config.yaml. After an interruption everything is done
 * again from the beginning (see `wasAdded`), so no change is without its event. The caller holds
 * the `work` lock.
 * @throws UserError request_refused, config_changed, log_alarm, config_invalid
 */
export async function changeConfig(
  layout: Layout,
  entry: JournaledRequest,
  addition: Addition,
  secret: { readonly file: string; readonly text: string } | null = null,
): Promise<void> {
  await requireOnce(layout, entry, addition);
  const edit = await planConfigEdit(layout, (document) => add(document, addition));
  requireOnlyAdded(edit, addition);
  if (secret !== null) await requireFree(secret);
  await updateRequest(layout, entry, { state: "adding", writes: addition });
  await sign(layout, entry, addition);
  if (secret !== null) await replaceFile(secret.file, `${secret.text}\n`);
  await edit.write();
}

/**
 * The log has one event for each request. If a request came again after the journal forgot it, or
 * continued with something else after an interruption, it would change config.yaml under the event
 * of the first time.
 */
async function requireOnce(
  layout: Layout,
  { id, state, writes }: JournaledRequest,
  addition: Addition,
): Promise<void> {
  if (!(await isEventKnown(layout, id))) return;
  if (state !== "adding" || !isDeepStrictEqual(writes, addition))
    throw refused("config.yaml was already changed for this request: ask again");
}

/** Whether config.yaml has exactly the addition that was in progress when the agent was stopped. */
export async function wasAdded(layout: Layout, { state, writes }: JournaledRequest): Promise<boolean> {
  if (state !== "adding") return false;
  const addition = writes as Addition;
  const found = ((parse((await readText(layout.config)) ?? "") ?? {}) as Config).sources?.[addition.source];
  if (addition.kind === "source") return isDeepStrictEqual(found, addition.entry);
  return found?.checks?.some((check) => isDeepStrictEqual(check, addition.entry)) ?? false;
}

interface Config {
  readonly sources?: Readonly<Record<string, { readonly checks?: readonly unknown[] } | undefined>> | null;
}

function add(document: Document, addition: Addition): void {
  const sources: unknown = document.get("sources");
  if (addition.kind === "source") {
    if (!isMap(sources)) document.set("sources", document.createNode({}));
    else if (sources.items.length === 0) sources.flow = false;
    document.setIn(["sources", addition.source], document.createNode(addition.entry));
    return;
  }
  const place = ["sources", addition.source, "checks"];
  if (isSeq(document.getIn(place))) document.addIn(place, document.createNode(addition.entry));
  else document.setIn(place, document.createNode([addition.entry]));
}

/** Aliases in config.yaml can make one change appear in two places. */
function requireOnlyAdded(
  edit: { readonly before: string; readonly after: string },
  addition: Addition,
): void {
  const { sources: before, ...otherBefore } = (parse(edit.before) ?? {}) as Config;
  const { sources: after, ...otherAfter } = parse(edit.after) as Config;
  const { [addition.source]: own, ...rest } = before ?? {};
  const { [addition.source]: changed, ...restAfter } = after ?? {};
  const expected =
    addition.kind === "source"
      ? addition.entry
      : { ...own, checks: [...(own?.checks ?? []), addition.entry] };
  const isWhole =
    isDeepStrictEqual(otherBefore, otherAfter) &&
    isDeepStrictEqual(rest, restAfter) &&
    isDeepStrictEqual(changed, expected) &&
    (addition.kind === "check" || own === undefined);
  if (!isWhole) throw refused("config.yaml would change in more than one place: add it on the host");
}

async function requireFree({ file, text }: { readonly file: string; readonly text: string }): Promise<void> {
  if (existsSync(file) && (await readFile(file, "utf8")) !== `${text}\n`)
    throw refused(`${file} exists already, and is not replaced: choose another name`);
}

async function sign(layout: Layout, { id, asked_by }: JournaledRequest, addition: Addition): Promise<void> {
  if (await isEventKnown(layout, id)) return;
  const sourceId = (await readSourceIds(layout)).get(addition.source);
  const what =
    addition.kind === "source"
      ? `the source ${addition.source} of the ${addition.entry["engine"] === "files" ? "directory" : "database"} ${addition.database}`
      : `the check ${addition.entry.id} of ${addition.source}`;
  const isSigned = await spoolSignedEvent(layout, id, {
    kind: "config_changed",
    ...(sourceId === undefined ? {} : { source_id: sourceId }),
    occurred_at: new Date().toISOString(),
    detail: {
      change: `${addition.kind}_added`,
      source: addition.source,
      by: asked_by,
      request_id: id,
      message: `${asked_by ?? "somebody"} asked over the service to add ${what} to config.yaml`,
    },
  });
  if (!isSigned)
    throw new UserError("log_alarm", "nothing can be signed at the moment, so config.yaml stays as it is");
}
