import { journalCommand, openCommands } from "../../journal/command-journal.ts";
import type { Layout } from "../../state/layout.ts";

/** How many one heartbeat carries. */
const MAX_ACKS = 1000;

/**
 * Commands to acknowledge with the next heartbeat. A command is on disk before it is acknowledged,
 * and acknowledged as often as it is delivered.
 */
export class CommandAcks {
  readonly #layout: Layout;
  readonly #toAck = new Set<string>();
  #inJournal = new Set<string>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /**
   * Finds commands that were delivered to another process of this root, which asked the service
   * something. Returns whether there are any.
   */
  async findHandedOver(): Promise<boolean> {
    const open = new Set((await openCommands(this.#layout)).map(({ command }) => command.id));
    const handedOver = [...open].filter((id) => !this.#inJournal.has(id));
    this.#inJournal = open;
    for (const id of handedOver) this.#toAck.add(id);
    return handedOver.length > 0;
  }

  /** Writes a delivered command down. Returns false if it was there before. */
  async take(command: Parameters<typeof journalCommand>[1]): Promise<boolean> {
    const isNew = await journalCommand(this.#layout, command);
    this.#toAck.add(command.id);
    this.#inJournal.add(command.id);
    return isNew;
  }

  next(): string[] {
    return [...this.#toAck].slice(0, MAX_ACKS);
  }

  /** The service has them. */
  sent(ids: readonly string[]): void {
    for (const id of ids) this.#toAck.delete(id);
  }
}
