import type { DatabaseObject } from "../../content/tagged-objects.ts";
import type { StatementReader } from "./statement-reader.ts";
import { unrestoredObject } from "./unrestored-objects.ts";

/** Also what `ALTER EVENT TRIGGER` says after the trigger was created. */
interface EventTrigger {
  readonly name: string;
  readonly parts: readonly string[];
  enabled: string;
}

/** What was found so far, in the order of the dump. */
export class FoundInDump {
  readonly #objects: DatabaseObject[] = [];
  readonly #triggers: EventTrigger[] = [];
  /** In which the next table or index is made; empty for the database's own. */
  tablespace = "";

  objects(): readonly DatabaseObject[] {
    const triggers = this.#triggers.map(({ name, parts, enabled }) =>
      unrestoredObject("event_trigger", name, [...parts, enabled]),
    );
    return [...this.#objects, ...triggers];
  }

  add(...object: Parameters<typeof unrestoredObject>): true {
    this.#objects.push(unrestoredObject(...object));
    return true;
  }

  addTrigger(name: string, parts: readonly string[]): true {
    this.#triggers.push({ name, parts, enabled: "O" });
    return true;
  }

  enable(name: string, enabled: string): boolean {
    const trigger = this.#triggers.findLast((each) => each.name === name);
    if (trigger === undefined) return false;
    trigger.enabled = enabled;
    return true;
  }
}

/** Reads what follows the first words of a statement. False if it is not understood. */
export type Read = (found: FoundInDump, statement: StatementReader) => boolean;

export interface Reader {
  /** The first words of the statement. */
  readonly begins: readonly string[];
  readonly read: Read;
}
