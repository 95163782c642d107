import type { ServiceNotes } from "../../platform/objects/service-notes.ts";

/**
 * An object that the database does not know. It stays where it is, so a database that knows it
 * finds it there.
 */
export interface Quarantined {
  key: string;
  since: Date;
  /** Somebody put it back, so it is not removed. */
  isKept: boolean;
}

const PREFIX = "quarantine/";

export async function readQuarantine(notes: ServiceNotes): Promise<Map<string, Quarantined>> {
  const found = new Map<string, Quarantined>();
  for await (const name of notes.list(PREFIX)) {
    const key = name.slice(PREFIX.length);
    const text = await notes.read(name);
    if (text !== null) found.set(key, parse(key, text));
  }
  return found;
}

export function quarantine(notes: ServiceNotes, key: string, since: Date): Promise<void> {
  return write(notes, { key, since, isKept: false });
}

/** From now on no sweep takes it. */
export function putBack(notes: ServiceNotes, { key, since }: Quarantined): Promise<void> {
  return write(notes, { key, since, isKept: true });
}

/** Forgets that it was in quarantine. */
export function endQuarantine(notes: ServiceNotes, key: string): Promise<void> {
  return notes.remove(PREFIX + key);
}

function write(notes: ServiceNotes, { key, since, isKept }: Quarantined): Promise<void> {
  return notes.write(PREFIX + key, `${JSON.stringify({ since: since.toISOString(), kept: isKept })}\n`);
}

/** An entry that cannot be read is kept, because nobody knows how long it has been there. */
function parse(key: string, text: string): Quarantined {
  try {
    const { since, kept } = JSON.parse(text) as { since?: unknown; kept?: unknown };
    const date = new Date(typeof since === "string" ? since : Number.NaN);
    if (!Number.isNaN(date.getTime())) return { key, since: date, isKept: kept !== false };
  } catch {
    // As below.
  }
  return { key, since: new Date(0), isKept: true };
}
