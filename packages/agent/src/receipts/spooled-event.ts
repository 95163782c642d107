import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { EventRequest } from "@attestore/contract";
import { replaceJsonFile } from "@attestore/host/durable-files";
import type { EnvelopeJson } from "@attestore/proof";
import { eventNameOf, signedEventFileName } from "./chain.ts";
import { signEvent } from "./sign-event.ts";
import type { Layout } from "../state/layout.ts";
import { readJson } from "../state/read-json.ts";

/** A waiting event: everything needed to submit it, in one file that is written once. */
export interface WaitingEvent {
  readonly v: 1;
  readonly idempotency_key: string;
  readonly event: EventRequest;
  /** The agent's signed statement about it; absent if nothing could be signed. */
  readonly envelope?: EnvelopeJson;
}

export interface EventFile {
  /** The file name without `.json`. */
  readonly name: string;
  readonly path: string;
}

/**
 * Signs an event and puts it into the spool. `name` identifies what happened (a command's id, a
 * receipt's number), so a failure that is seen again after a crash is reported once.
 */
export async function spoolEvent(layout: Layout, name: string, event: EventRequest): Promise<void> {
  for (const directory of [layout.eventsWaiting, layout.events, layout.eventsRefused])
    if ((await readdir(directory)).some((file) => eventNameOf(file) === name)) return;
  const waiting: WaitingEvent = { v: 1, idempotency_key: randomUUID(), event };
  const isSigned = await signEvent(layout, event, (sequence, envelope) =>
    replaceJsonFile(join(layout.eventsWaiting, signedEventFileName(sequence, name)), {
      ...waiting,
      envelope,
    } satisfies WaitingEvent),
  );
  if (!isSigned) await replaceJsonFile(join(layout.eventsWaiting, `${name}.json`), waiting);
}

/** The events in a directory, by name. */
export async function listEvents(directory: string): Promise<EventFile[]> {
  const names = (await readdir(directory)).filter((name) => /^[a-z0-9][\w.-]*\.json$/.test(name));
  return names
    .filter((name) => !name.endsWith(".answer.json"))
    .toSorted()
    .map((name) => ({ name: name.slice(0, -".json".length), path: join(directory, name) }));
}

export async function readWaitingEvent({ path }: EventFile): Promise<WaitingEvent> {
  return (await readJson(path)) as WaitingEvent;
}
