import {
  type EventBundle,
  eventFile,
  envelopeFromJson,
  MAX_BUNDLE_SIZE,
  parseBundle,
  parseEventBundle,
  ProofError,
  readStatement,
  type Statement,
} from "@attestore/proof";
import { MAX_EVENT } from "./check-event.ts";
import type { PackFiles } from "../files/pack-files.ts";
import { refuseChanged } from "../files/refuse-changed.ts";

/**
 * Entries that were checked, read again from the pack: memory does not hold them. The manifest's
 * digests say that they are the same. Throws CannotTell if the file was changed meanwhile.
 */
export class ReadAgain {
  readonly #files: PackFiles;
  readonly #isValid: Uint8Array;

  constructor(files: PackFiles) {
    this.#files = files;
    this.#isValid = new Uint8Array(files.count);
  }

  /** Call it for each event that is valid. */
  addValid(file: number): void {
    this.#isValid[file] = 1;
  }

  /** Undefined if the pack has no valid event with this id. */
  async event(id: string): Promise<EventBundle | undefined> {
    const file = this.#files.find(eventFile(id));
    return file === -1 || this.#isValid[file] !== 1 ? undefined : this.eventAt(file);
  }

  eventAt(file: number): Promise<EventBundle> {
    return this.#again(file, MAX_EVENT, parseEventBundle);
  }

  statementAt(file: number): Promise<Statement> {
    return this.#again(file, MAX_BUNDLE_SIZE, (bytes) => {
      const { statement } = readStatement(envelopeFromJson(parseBundle(bytes).envelope).payload);
      if (statement === undefined) throw new ProofError("malformed_bundle", "it has another statement");
      return statement;
    });
  }

  async #again<T>(file: number, limit: number, parse: (bytes: Uint8Array) => T): Promise<T> {
    const path = this.#files.pathAt(file);
    try {
      return parse(await this.#files.read(path, limit));
    } catch (error) {
      return refuseChanged(path, error);
    }
  }
}
