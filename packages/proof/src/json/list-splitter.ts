import { ProofError } from "../proof-error.ts";

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Where in the JSON text the next byte is. */
type Place =
  | "outside"
  | "before the first item"
  | "before an item"
  | "in an item"
  | "in a bare item"
  | "after an item";

/**
 * Takes the items of one long list out of the JSON text of an object, some bytes at a time. The
 * list is the member `name` of the outermost object. This only finds where each item ends. If the
 * caller can parse each of them, and the rest with an empty list in place of the list, then the
 * whole text is JSON with this content.
 */
export class ListSplitter {
  readonly #name: string;
  readonly #rest: Bytes;
  readonly #item: Bytes;
  #place: Place = "outside";
  /** How many objects and lists are open, in the item or outside of it. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Where in the rest the last string is, with its quotes. */
  #string = { from: 0, to: -1 };
  /** Whether the next value is that of the list's name. */
  #isNamed = false;

  constructor(name: string, limits: { item: number; rest: number }) {
    this.#name = `"${name}"`;
    this.#rest = new Bytes(limits.rest);
    this.#item = new Bytes(limits.item);
  }

  /** The items that end in these bytes. Throws `malformed_json`. */
  add(bytes: Uint8Array): Uint8Array[] {
    const items: Uint8Array[] = [];
    for (const byte of bytes) {
      // A number, or a word such as null, has no end of its own.
      if (this.#place === "in a bare item" && (isSpace(byte) || byte === COMMA || byte === CLOSE_LIST)) {
        items.push(this.#item.take());
        this.#place = "after an item";
      }
      if (this.#place === "outside") this.#outside(byte);
      else if (this.#place === "in a bare item") this.#item.add(byte);
      else if (this.#place === "in an item") {
        this.#item.add(byte);
        this.#look(byte);
        if (this.#depth > 0 || this.#isInString) continue;
        items.push(this.#item.take());
        this.#place = "after an item";
      } else if (!isSpace(byte)) this.#between(byte);
    }
    return items;
  }

  /** The text with an empty list in place of the list. */
  end(): Uint8Array {
    return this.#rest.take();
  }

  #outside(byte: number): void {
    const wasInString = this.#isInString;
    this.#rest.add(byte);
    this.#look(byte);
    if (wasInString) {
      if (!this.#isInString) this.#string.to = this.#rest.length;
      return;
    }
    if (byte === QUOTE) this.#string.from = this.#rest.length - 1;
    if (this.#isNamed && byte === OPEN_LIST) {
      this.#place = "before the first item";
      this.#depth = 0;
    }
    if (byte === COLON && this.#depth === 1)
      this.#isNamed = this.#rest.equals(this.#string.from, this.#string.to, this.#name);
    else if (!isSpace(byte)) this.#isNamed = false;
  }

  #between(byte: number): void {
    if (byte === CLOSE_LIST && this.#place !== "before an item") {
      this.#rest.add(byte);
      this.#place = "outside";
      // In the outermost object.
      this.#depth = 1;
    } else if (byte === COMMA && this.#place === "after an item") this.#place = "before an item";
    else if (byte === COMMA || byte === CLOSE_LIST || this.#place === "after an item")
      throw new ProofError("malformed_json", "not JSON");
    else {
      this.#item.add(byte);
      this.#depth = 0;
      this.#look(byte);
      this.#place = this.#depth > 0 || this.#isInString ? "in an item" : "in a bare item";
    }
  }

  #look(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      if (byte === QUOTE) this.#isInString = false;
      else this.#isEscaped = byte === BACKSLASH;
    } else if (byte === QUOTE) this.#isInString = true;
    else if (byte === OPEN || byte === OPEN_LIST) this.#depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) this.#depth -= 1;
  }
}

/** Bytes up to a limit. */
class Bytes {
  readonly #limit: number;
  #bytes = new Uint8Array(1024);
  #length = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get length(): number {
    return this.#length;
  }

  add(byte: number): void {
    if (this.#length === this.#limit)
      throw new ProofError("malformed_json", `a part of the JSON is larger than ${this.#limit} bytes`);
    if (this.#length === this.#bytes.length) {
      const grown = new Uint8Array(this.#length * 2);
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes[this.#length] = byte;
    this.#length += 1;
  }

  /** Leaves none. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }

  equals(from: number, to: number, text: string): boolean {
    if (to - from !== text.length) return false;
    for (let at = 0; at < text.length; at += 1)
      if (this.#bytes[from + at] !== text.charCodeAt(at)) return false;
    return true;
  }
}
