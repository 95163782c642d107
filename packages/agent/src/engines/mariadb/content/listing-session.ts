import type { asText, MariadbSession, Statement } from "../connection/session.ts";
import { isOfThePlace } from "../connection/session-error.ts";

/** The server's settings decide how it prints a definition. */
const SETTINGS = [
  // Otherwise a view's text leaves out the name of the session's own database.
  "use information_schema",
  "set session sql_mode = ''",
  "set session sql_quote_show_create = 1",
  "set session time_zone = '+00:00'",
  "set session lock_wait_timeout = 2",
];

const CHANGED = ["sql_mode", "sql_quote_show_create", "time_zone", "lock_wait_timeout", "max_statement_time"];

/** A routine's text, after its SQL mode. */
const SHOWS_NULL_AT = 1;
const TIMED_OUT = 1969;

/** Something could not be listed, or not in time. */
export class NotListed extends Error {
  readonly code = "not_listed";
}

export interface ListingSessionOptions {
  /** Replaces a definition that the server cannot print. Null: that throws NotListed. */
  readonly unreadable: string | null;
  readonly decode: typeof asText;
}

/**
 * Asks a server how it prints definitions, under the settings that this depends on. Each question
 * has the time until `deadline`. Every method throws NotListed and SessionEnded.
 */
export class ListingSession {
  /** By `performance.now()`. */
  deadline = 0;
  readonly #session: MariadbSession;
  readonly #unreadable: string | null;
  readonly #decode: typeof asText;

  constructor(session: MariadbSession, { unreadable, decode }: ListingSessionOptions) {
    this.#session = session;
    this.#unreadable = unreadable;
    this.#decode = decode;
  }

  async setUp(): Promise<void> {
    for (const sql of SETTINGS) await this.own(sql);
  }

  async reset(): Promise<void> {
    for (const name of CHANGED) await this.#session.run(`set session ${name} = default`);
  }

  /** The rows of a query of ours. */
  async own(sql: string): Promise<readonly (readonly string[])[]> {
    const rows = await this.ownIfPossible(sql);
    if (rows === null) throw new NotListed();
    return rows;
  }

  /** Null if the server refuses the query, for example because it lacks the table. */
  async ownIfPossible(sql: string): Promise<readonly (readonly string[])[] | null> {
    const asked = await this.#timely(() => this.#session.run(sql));
    return asked.ok ? asked.rows : null;
  }

  /** What SHOW CREATE says after the first `from` columns. */
  async shown(what: string, from: number): Promise<string[]> {
    const [row] = await this.foreign(`show create ${what}`);
    const cells = row?.slice(from) ?? [];
    // The server says so if the user may not see a routine's body.
    if (this.#unreadable === null && (cells.length === 0 || cells[SHOWS_NULL_AT] === "NULL"))
      throw new NotListed();
    return cells;
  }

  /**
   * The rows of a query that reads what the source's users made. Rows that cannot be read are
   * replaced, if that is no reason to end the listing.
   */
  async foreign(sql: string): Promise<readonly (readonly string[])[]> {
    const asked = await this.#timely(() => this.#session.runForeign(sql, this.#decode));
    if (asked.ok && asked.rows.length > 0) return asked.rows;
    if (this.#unreadable === null || (!asked.ok && isOfThePlace(asked.code))) throw new NotListed();
    return [["", this.#unreadable]];
  }

  async #timely(ask: () => Promise<Statement>): Promise<Statement> {
    const left_s = (this.deadline - performance.now()) / 1000;
    if (left_s <= 0) throw new NotListed();
    await this.#session.run(`set session max_statement_time = ${Math.max(0.1, left_s).toFixed(1)}`);
    const asked = await ask();
    if (!asked.ok && asked.code === TIMED_OUT) throw new NotListed();
    return asked;
  }
}
