import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { EventAccepted, EventRequest } from "@attestore/contract";
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

/** An event that is in the log. The answer was verified when it came. */
export interface AcceptedEvent extends Omit<WaitingEvent, "idempotency_key"> {
  readonly answer: EventAccepted;
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
  if (await isEventKnown(layout, name)) return;
  const waiting = waitingEvent(event);
  if (!(await spoolSigned(layout, name, waiting)))
    await replaceJsonFile(join(layout.eventsWaiting, `${name}.json`), waiting);
}

/**
 * The same for an event that is worth nothing without a signature. Returns whether it is signed.
 */
export function spoolSignedEvent(layout: Layout, name: string, event: EventRequest): Promise<boolean> {
  return spoolSigned(layout, name, waitingEvent(event));
}

/** Whether there is an event of that name already, submitted or not. */
export async function isEventKnown(layout: Layout, name: string): Promise<boolean> {
  for (const directory of [layout.eventsWaiting, layout.events, layout.eventsRefused])
    if ((await readdir(directory)).some((file) => eventNameOf(file) === name)) return true;
  return false;
}

function waitingEvent(event: EventRequest): WaitingEvent {
  return { v: 1, idempotency_key: randomUUID(), event };
}

function spoolSigned(layout: Layout, name: string, waiting: WaitingEvent): Promise<boolean> {
  return signEvent(layout, waiting.event, (sequence, envelope) =>
    replaceJsonFile(join(layout.eventsWaiting, signedEventFileName(sequence, name)), {
      ...waiting,
      envelope,
    } satisfies WaitingEvent),
  );
}

/** The events in a directory, by name. */
export async function listEvents(directory: string): Promise<EventFile[]> {
  const names = (await readdir(directory)).filter((name) => /^[a-z0-9][\w.-]*\.json$/.test(name));
  return names
    .filter((name) => !name.endsWith(".answer.json"))
    .toSorted()
    .map((name) => ({ name: name.slice(0, -".json".length), path: join(directory, name) }));
}

/** An event that the log has, with the service's answer, by the name it was given; or null. */
export async function readAcceptedEvent(layout: Layout, name: string): Promise<AcceptedEvent | null> {
  const file = (await readdir(layout.events)).find((each) => eventNameOf(each) === name);
  return file === undefined ? null : ((await readJson(join(layout.events, file))) as AcceptedEvent);
}

/** Whether an event of that name waits to be submitted. */
export async function isEventWaiting(layout: Layout, name: string): Promise<boolean> {
  return (await readdir(layout.eventsWaiting)).some((file) => eventNameOf(file) === name);
}

export async function readWaitingEvent({ path }: EventFile): Promise<WaitingEvent> {
  return (await readJson(path)) as WaitingEvent;
}
