import { createHash, type Hash } from "node:crypto";
import { NOT_READ } from "../../content/compare-declared.ts";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { SqlQuotes } from "./sql-quotes.ts";

/** A schema as pg_dump's text defines it. */
export interface DeclaredSchema {
  /**
   * Each statement under the words that pg_dump writes above it, by its SHA-256; `NOT_READ` if it
   * is too long.
   */
  readonly objects: readonly DatabaseObject[];
  /** The versions of the server and of pg_dump; null if the text does not name them. */
  readonly server: string | null;
  readonly program: string | null;
  /** Whether it was made with `--quote-all-identifiers`. */
  readonly quotesAll: boolean;
}

const HEAD = /^-- (Data for )?Name: (.+); Type: ([A-Z ]+); Schema: (.+); Owner: (?:.*)$/;
const VERSION = /^-- Dumped (from database|by pg_dump) version ([0-9.]+)/;
const END = /^-- PostgreSQL database dump complete/;
const BACKSLASHES = /^SET standard_conforming_strings = (on|off);$/;
const COPY = /^COPY .* FROM stdin;$/;
/** Lines at the end of an object that set its owner, or a default for the next object. */
const BESIDES = /^(?:SET default_(?:tablespace|table_access_method|with_oids) = .*;|ALTER .* OWNER TO .*;)$/;
const COPY_END = Buffer.from("\n\\.\n");
const NEWLINE = 0x0a;
/** The rest of a longer line is not looked at, so its object is not read. */
const MAX_LINE = 1 << 20;
/** An object is not read either if more text than this could be its end, but is not. */
const MAX_PENDING = 64 * 1024;
const MAX_OBJECTS = 100_000;

interface Section {
  readonly kind: string;
  readonly name: string;
  readonly schema: string;
  readonly hash: Hash;
  /** Lines that may separate two objects. Only the next line tells. */
  pending: string;
  hasText: boolean;
  isCut: boolean;
}

/**
 * Reads the definitions in pg_dump's text while it passes, and none of the rows. Functions,
 * comments and rows in INSERT statements may contain lines like pg_dump's own, so only lines that
 * begin outside of quotes count as such.
 */
export class DeclaredSql {
  readonly #objects: DatabaseObject[] = [];
  #section: Section | null = null;
  #isData = false;
  #isCopying = false;
  #begun: Buffer = Buffer.alloc(0);
  #isBegunCut = false;
  #server: string | null = null;
  #program: string | null = null;
  #isTooLarge = false;
  /** Whether a dump has begun and is not complete yet. */
  #isIncomplete = false;
  #isCutShort = false;
  /** Objects whose first line has their schema in quotes, and without them. */
  #quoted = 0;
  #unquoted = 0;
  readonly #quotes = new SqlQuotes();
  /** Whether the line so far began inside of quotes. */
  #isQuoted = false;

  add(piece: Buffer): void {
    let rest = piece;
    while (rest.length > 0) {
      if (this.#isCopying) {
        const held = this.#begun.length;
        const all = held === 0 ? rest : Buffer.concat([this.#begun, rest]);
        const end = all.indexOf(COPY_END);
        if (end === -1) {
          this.#begun = Buffer.from(all.subarray(-COPY_END.length + 1));
          return;
        }
        this.#isCopying = false;
        this.#begun = Buffer.alloc(0);
        rest = all.subarray(end + COPY_END.length);
        continue;
      }
      const newline = rest.indexOf(NEWLINE);
      const part = newline === -1 ? rest : rest.subarray(0, newline);
      this.#quotes.add(part.toString("latin1"), newline !== -1);
      const room = MAX_LINE - this.#begun.length;
      this.#isBegunCut ||= part.length > room;
      const line = Buffer.concat([this.#begun, part.subarray(0, room)]);
      if (newline === -1) {
        this.#begun = line;
        return;
      }
      this.#begun = Buffer.alloc(0);
      this.#line(line, this.#isBegunCut);
      this.#isBegunCut = false;
      this.#isQuoted = this.#quotes.isQuoted;
      rest = rest.subarray(newline + 1);
    }
  }

  /** Whether the text has several dumps, and one begins before the previous one is complete. */
  get isCutShort(): boolean {
    return this.#isCutShort;
  }

  /** Null if there are more objects than are remembered. */
  end(): DeclaredSchema | null {
    this.#close();
    if (this.#isTooLarge) return null;
    const quotesAll = this.#quoted > 0 && this.#unquoted === 0;
    return { objects: this.#objects, server: this.#server, program: this.#program, quotesAll };
  }

  #line(bytes: Buffer, isCut: boolean): void {
    const line = bytes.toString("latin1");
    if (!this.#isQuoted && line.startsWith("-- ")) {
      const [, of, version = ""] = VERSION.exec(line) ?? [];
      if (of === "from database") {
        this.#server ??= version;
        this.#isCutShort ||= this.#isIncomplete;
        this.#isIncomplete = true;
      }
      if (of === "by pg_dump") this.#program ??= version;
      const [, data, name = "", kind = "", schema = ""] = HEAD.exec(line) ?? [];
      if (END.test(line)) this.#isIncomplete = false;
      if (kind !== "" || END.test(line)) {
        this.#close();
        this.#isData = data !== undefined;
        if (kind !== "" && data === undefined) this.#open(kind, name, schema);
        return;
      }
    }
    const backslashes = this.#isQuoted ? null : BACKSLASHES.exec(line);
    if (backslashes !== null) this.#quotes.conforms = backslashes[1] === "on";
    if (this.#isData) {
      // Without rows, the line break before the end of the data is this line's own.
      if (!this.#isQuoted && COPY.test(line)) [this.#isCopying, this.#begun] = [true, Buffer.from("\n")];
      return;
    }
    const section = this.#section;
    if (section === null) return;
    if (line === "" || line === "--" || BESIDES.test(line)) {
      if (section.hasText && section.pending.length <= MAX_PENDING) section.pending += `${line}\n`;
      return;
    }
    if (!section.hasText) this.#lookForQuotes(line, section.schema);
    section.isCut ||= isCut || section.pending.length > MAX_PENDING;
    section.hash.update(`${section.pending}${line}\n`, "latin1");
    section.pending = "";
    section.hasText = true;
  }

  #lookForQuotes(line: string, schema: string): void {
    if (line.includes(`"${schema}".`)) this.#quoted++;
    else if (line.includes(`${schema}.`)) this.#unquoted++;
  }

  #open(kind: string, own: string, schema: string): void {
    const name = schema === "-" ? own : `${schema}.${own}`;
    this.#section = {
      kind: kind.toLowerCase().replaceAll(" ", "_"),
      name: Buffer.from(name, "latin1").toString("utf8"),
      schema,
      hash: createHash("sha256"),
      pending: "",
      hasText: false,
      isCut: false,
    };
  }

  #close(): void {
    const section = this.#section;
    this.#section = null;
    if (section === null || !section.hasText) return;
    if (this.#objects.length >= MAX_OBJECTS) this.#isTooLarge = true;
    else {
      const { kind, name, hash, isCut } = section;
      this.#objects.push({ kind, name, definition: isCut ? NOT_READ : hash.digest("hex") });
    }
  }
}
