import { createHash } from "node:crypto";
import type { DatabaseObject } from "../../content/tagged-objects.ts";
import { doubtfulDefaults, inList, tableName } from "../schema.ts";
import { asBytes, asText, type MariadbSession, quoted } from "../connection/session.ts";
import { ListingSession, NotListed } from "./listing-session.ts";
import {
  DATA_DIRECTORY,
  DOUBTFUL_DEFAULT,
  EVENT_THAT_ENDS,
  NOT_COMPARED,
  PARTITIONS_BY_TIME,
  READ_ONLY,
  REFERENCE_SYSTEM,
  RESTARTS,
  STATUS_OF_EVENT,
} from "./not-looked-at.ts";
import { counterOf, databaseText, eventText, leftOutOf, tableParts, withoutAge } from "./object-rules.ts";

export interface ListingLimits {
  /** For all objects together. */
  readonly budget_ms: number;
  /** What each group of kinds gets at least, if the others have used it up. */
  readonly least_ms?: number;
  /**
   * Replaces a definition that the server cannot print. Without this, such an object would end the
   * listing.
   */
  readonly unreadable?: string;
  /**
   * As agents before 29 November 2026 did it: without libraries and bytes that are not UTF-8.
   * `with_age`: as those before 27 November 2026, which did not compare tables `withoutAge`.
   */
  readonly as?: EarlierList;
}

export type EarlierList = "earlier" | "with_age";

export interface ListedObjects {
  readonly objects: readonly DatabaseObject[];
  /** Kinds of which something could not be listed, or not in time. `objects` has none of them. */
  readonly unlisted: readonly string[];
}

/**
 * Lists everything in the databases except rows, by what the server's own SHOW CREATE says. Each
 * definition is a SHA-256. Null if something could not be listed, or not in time.
 * @throws SessionEnded
 */
export async function listObjects(
  session: MariadbSession,
  databases: readonly string[],
  limits: ListingLimits,
): Promise<readonly DatabaseObject[] | null> {
  const { objects, unlisted } = await listPartly(session, databases, limits);
  return unlisted.length === 0 ? objects : null;
}

/** The same as far as it comes. */
export async function listPartly(
  session: MariadbSession,
  databases: readonly string[],
  limits: ListingLimits,
): Promise<ListedObjects> {
  const asking = new ListingSession(session, {
    unreadable: limits.unreadable ?? null,
    decode: limits.as === undefined ? asBytes : asText,
  });
  try {
    return await new Listing(asking, limits).everything(databases);
  } finally {
    await asking.reset();
  }
}

class Listing {
  readonly #session: ListingSession;
  readonly #end: number;
  readonly #least_ms: number;
  readonly #isSource: boolean;
  readonly #as: EarlierList | "now";
  #objects: DatabaseObject[] = [];

  constructor(session: ListingSession, { budget_ms, least_ms = 0, unreadable, as }: ListingLimits) {
    this.#session = session;
    this.#end = performance.now() + budget_ms;
    this.#least_ms = least_ms;
    this.#isSource = unreadable === undefined;
    this.#as = as ?? "now";
  }

  async everything(databases: readonly string[]): Promise<ListedObjects> {
    const objects: DatabaseObject[] = [];
    const unlisted: string[] = [];
    let isSet = false;
    for (const { kinds, list } of this.#groups(databases)) {
      this.#objects = [];
      this.#session.deadline = Math.max(this.#end, performance.now() + this.#least_ms);
      try {
        // Without these, the server prints something else.
        if (!isSet) await this.#session.setUp();
        isSet = true;
        await list();
        for (const object of this.#objects) objects.push(object);
      } catch (error) {
        if (!(error instanceof NotListed)) throw error;
        unlisted.push(...kinds);
        // Whoever needs all of it waits no longer.
        if (this.#least_ms === 0) break;
      }
    }
    return { objects, unlisted };
  }

  #groups(
    databases: readonly string[],
  ): readonly { readonly kinds: readonly string[]; readonly list: () => Promise<void> }[] {
    return [
      { kinds: ["database"], list: () => this.#databases(databases) },
      { kinds: TABLE_KINDS, list: () => this.#tables(databases) },
      { kinds: [...[...ROUTINES].map(kindOfRoutine), LIBRARY], list: () => this.#routines(databases) },
      { kinds: ["trigger"], list: () => this.#triggers(databases) },
      { kinds: ["event"], list: () => this.#events(databases) },
      // These read tables, which may be large or locked, and must not take anything else along.
      { kinds: ["sequence_value"], list: () => this.#sequenceValues(databases) },
      { kinds: ["auto_increment"], list: () => this.#counters(databases) },
    ];
  }

  async #databases(databases: readonly string[]): Promise<void> {
    for (const database of databases) {
      const shown = await this.#session.shown(`database ${quoted(database)}`, 1);
      const name = tableName(database, "");
      const { text, isReadOnly } = databaseText(shown[0] ?? "");
      if (this.#as !== "now") this.#add("database", name.slice(0, -1), shown);
      else this.#add("database", name.slice(0, -EMPTY.length), shown.with(0, text));
      if (isReadOnly) this.#leaveOut(READ_ONLY, name.slice(0, -EMPTY.length));
    }
  }

  async #tables(databases: readonly string[]): Promise<void> {
    const switchedOff = await this.#indexesSwitchedOff(databases);
    const tables = await this.#session
      .own(`select table_schema, table_name, table_type from information_schema.tables
      where ${inList("table_schema", databases)} order by 1, 2`);
    for (const [database = "", table = "", type = ""] of tables) {
      const name = tableName(database, table);
      const place = `${quoted(database)}.${quoted(table)}`;
      if (type === "VIEW") this.#add("view", name, await this.#session.shown(`view ${place}`, 1));
      else if (type === "SEQUENCE")
        this.#add("sequence", name, await this.#session.shown(`sequence ${place}`, 1));
      else {
        const [text = "", ...more] = await this.#session.shown(`table ${place}`, 1);
        const compared = this.#as === "with_age" ? text : withoutAge(text);
        const { hasPlaces, growsByTime } = leftOutOf(text);
        if (hasPlaces) this.#leaveOut(DATA_DIRECTORY, name);
        if (growsByTime) this.#leaveOut(PARTITIONS_BY_TIME, name);
        for (const part of tableParts(name, compared)) {
          const isOff = part.kind === "index" && switchedOff.has(part.name);
          this.#add(part.kind, part.name, [part.definition, ...more, ...(isOff ? ["switched off"] : [])]);
        }
      }
    }
    if (this.#isSource) await this.#lostInDump(databases);
  }

  /** What a dump of tables does not have, or may not have. */
  async #lostInDump(databases: readonly string[]): Promise<void> {
    for (const [database = "", table = "", column = ""] of await this.#session.own(
      doubtfulDefaults(databases),
    ))
      this.#leaveOut(DOUBTFUL_DEFAULT, `${tableName(database, table)}.${column}`);
    // A dump has that of each value, but not that of the column. MySQL has no such table.
    const columns = await this.#session.ownIfPossible(
      `select g_table_schema, g_table_name, g_geometry_column from information_schema.geometry_columns
       where ${inList("g_table_schema", databases)} and srid <> 0 order by 1, 2, 3`,
    );
    for (const [database = "", table = "", column = ""] of columns ?? [])
      this.#leaveOut(REFERENCE_SYSTEM, `${tableName(database, table)}.${column}`);
  }

  async #counters(databases: readonly string[]): Promise<void> {
    const versioned = new Set(
      (
        await this.#session.own(`select table_schema, table_name from information_schema.tables
          where ${inList("table_schema", databases)} and table_type = 'SYSTEM VERSIONED'`)
      ).map(([database = "", table = ""]) => tableName(database, table)),
    );
    const columns = await this.#session
      .own(`select table_schema, table_name, column_name from information_schema.columns
      where ${inList("table_schema", databases)} and extra like '%auto_increment%' order by 1, 2`);
    for (const [database = "", table = "", column = ""] of columns) {
      const name = tableName(database, table);
      const place = `${quoted(database)}.${quoted(table)}`;
      const [text = ""] = await this.#session.shown(`table ${place}`, 1);
      const all = versioned.has(name) ? " for system_time all" : "";
      const newest = await this.#session.foreign(
        `select coalesce(max(${quoted(column)}), 0) from ${place}${all}`,
      );
      this.#add("auto_increment", name, [counterOf(text, newest[0]?.[0] ?? "")]);
    }
  }

  /**
   * The indexes of a copy that the server does not use. A dump switches those of MyISAM and Aria
   * off before it fills a table, and on afterwards. Those of a source are on in its copy.
   */
  async #indexesSwitchedOff(databases: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.#isSource) return new Set();
    const rows = await this.#session
      .own(`select distinct table_schema, table_name, index_name from information_schema.statistics
      where ${inList("table_schema", databases)} and comment = 'disabled'`);
    return new Set(
      rows.map(([database = "", table = "", index = ""]) => `${tableName(database, table)}.${index}`),
    );
  }

  /** A dump does not say how often a sequence has restarted. */
  async #sequenceValues(databases: readonly string[]): Promise<void> {
    const sequences = await this.#session.own(`select table_schema, table_name from information_schema.tables
      where ${inList("table_schema", databases)} and table_type = 'SEQUENCE' order by 1, 2`);
    for (const [database = "", sequence = ""] of sequences) {
      const place = `${quoted(database)}.${quoted(sequence)}`;
      const [row = []] = await this.#session.foreign(
        `select next_not_cached_value, cycle_count from ${place}`,
      );
      const name = tableName(database, sequence);
      this.#add("sequence_value", name, row.slice(0, -1));
      if (row.at(-1) !== "0") this.#leaveOut(RESTARTS, name);
    }
  }

  async #routines(databases: readonly string[]): Promise<void> {
    for (const [database = "", name = "", type = ""] of await this.#session.own(
      `select routine_schema, routine_name, lower(routine_type) from information_schema.routines
       where ${inList("routine_schema", databases)} order by 1, 2, 3`,
    )) {
      if (!ROUTINES.has(type)) throw new NotListed();
      const shown = await this.#session.shown(`${type} ${quoted(database)}.${quoted(name)}`, 1);
      this.#add(kindOfRoutine(type), tableName(database, name), shown);
    }
    if (this.#as === "now") await this.#libraries(databases);
  }

  /** Of MySQL 9.2 and later: code that routines in JavaScript use. */
  async #libraries(databases: readonly string[]): Promise<void> {
    const there = await this.#session.own(
      "select 1 from information_schema.tables where table_schema = 'information_schema' and table_name = 'LIBRARIES'",
    );
    if (there.length === 0) return;
    for (const [database = "", name = ""] of await this.#session.own(
      `select library_schema, library_name from information_schema.libraries
       where ${inList("library_schema", databases)} order by 1, 2`,
    ))
      this.#add(
        LIBRARY,
        tableName(database, name),
        await this.#session.shown(`library ${quoted(database)}.${quoted(name)}`, 1),
      );
  }

  async #triggers(databases: readonly string[]): Promise<void> {
    for (const [database = "", name = "", order = ""] of await this.#session.own(
      `select trigger_schema, trigger_name, action_order from information_schema.triggers
       where ${inList("trigger_schema", databases)} order by 1, 2`,
    )) {
      const shown = await this.#session.shown(`trigger ${quoted(database)}.${quoted(name)}`, 1);
      // The last of them is when the trigger was made.
      this.#add("trigger", tableName(database, name), [order, ...shown.slice(0, TRIGGER_CELLS)]);
    }
  }

  async #events(databases: readonly string[]): Promise<void> {
    for (const [database = "", name = "", keeps = "", ends = ""] of await this.#session.own(
      `select event_schema, event_name, on_completion = 'PRESERVE', event_type = 'ONE TIME' or ends is not null
       from information_schema.events where ${inList("event_schema", databases)} order by 1, 2`,
    )) {
      const shown = await this.#session.shown(`event ${quoted(database)}.${quoted(name)}`, 1);
      const text = eventText(shown[EVENT_TEXT] ?? "", { keeps: keeps === "1", ends: ends === "1" });
      if (ends === "1")
        this.#leaveOut(text === null ? EVENT_THAT_ENDS : STATUS_OF_EVENT, tableName(database, name));
      if (text === null) continue;
      this.#add("event", tableName(database, name), shown.with(EVENT_TEXT, text));
    }
  }

  #add(kind: string, name: string, cells: readonly string[]): void {
    const definition = createHash("sha256").update(JSON.stringify(cells)).digest("hex");
    this.#objects.push({ kind, name, definition });
  }

  /** Only of a source: a copy need not have it. */
  #leaveOut(kind: string, name: string): void {
    if (this.#isSource) this.#objects.push({ kind, name, definition: NOT_COMPARED });
  }
}

const kindOfRoutine = (type: string): string => type.replace(" ", "_");

/** What the definition of a table, a view or a sequence says. */
const TABLE_KINDS: readonly string[] = ["table", "index", "constraint", "view", "sequence"];
/** As `tableName` writes a table without a name, after a database. */
const EMPTY = ".``";
const LIBRARY = "library";
const ROUTINES: ReadonlySet<string> = new Set(["procedure", "function", "package", "package body"]);
/** SQL mode, text, two character sets and the database's collation. */
const TRIGGER_CELLS = 5;
/** After SQL mode and time zone. */
const EVENT_TEXT = 2;
