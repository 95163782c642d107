import { randomBytes } from "node:crypto";
import type { QueryOutcome } from "../../../checks/index.ts";
import { RunError } from "../../../errors/run-error.ts";
import type { Ruined } from "../../engine.ts";
import { READER } from "./accounts.ts";
import { limited } from "../connection/limited.ts";
import { type Column, emptied, type Table, tablesRead, type Way, waysOfColumn } from "./ruin-ways.ts";
import { type MariadbSession, quoted } from "../connection/session.ts";
import { rowsOf } from "../connection/session-error.ts";

export interface RuinRequest {
  readonly query: string;
  readonly databases: readonly string[];
  readonly version: string;
  /** Runs the query for at most that number of seconds. */
  readonly ask: (seconds: number) => Promise<QueryOutcome>;
  /** Milliseconds for everything. */
  readonly budget_ms: number;
  readonly timeout_s: number;
}

/** Enough to show whether a check can fail. */
const MAX_WAYS = 24;

/**
 * Puts a view of the ruined data in the place of each table that the query reads, and takes it away
 * again. So no row is written, whatever the table's size, storage engine and triggers are.
 * @throws RunError `sandbox_failed` if a table cannot be put back; SessionEnded
 */
export async function ruinInTurn(admin: MariadbSession, request: RuinRequest): Promise<Ruined[]> {
  return new Ruin(admin, request).everyWay();
}

class Ruin {
  readonly #admin: MariadbSession;
  readonly #request: RuinRequest;
  readonly #deadline: number;
  readonly #probe = randomName();

  constructor(admin: MariadbSession, request: RuinRequest) {
    this.#admin = admin;
    this.#request = request;
    this.#deadline = performance.now() + request.budget_ms;
  }

  async everyWay(): Promise<Ruined[]> {
    if (this.#left_s() <= 0) return [{ how: "ruined data", outcome: notTried(NO_TIME) }];
    const asked = await this.#request.ask(this.#left_s());
    if (asked.kind !== "rows")
      return [{ how: "ruined data", outcome: notTried("the query did not end in time") }];
    rowsOf(await this.#admin.run("set session lock_wait_timeout = 10"), "preparing the session");
    const tables = await tablesRead(this.#admin, this.#request.databases);
    const ways = [...tables.map(emptied), ...(await this.#waysOfColumns(tables))];
    const ruined: Ruined[] = [];
    for (const way of ways.slice(0, MAX_WAYS))
      ruined.push({ how: way.how, outcome: this.#left_s() <= 0 ? notTried(NO_TIME) : await this.#try(way) });
    const more = ways.length - MAX_WAYS;
    return more <= 0
      ? ruined
      : [
          ...ruined,
          { how: `${more} more ways`, outcome: notTried("the check reads too many tables and columns") },
        ];
  }

  async #try({ table, before, instead, where }: Way): Promise<Ruined["outcome"]> {
    return this.#inPlaceOf(table, async (place, aside) => {
      const { version, ask } = this.#request;
      const some = `select 1 from ${aside} where ${before} limit 1`;
      const found = await this.#admin.runForeign(limited(version, some, this.#left_s()));
      if (!found.ok) return notTried(NO_TIME);
      if (found.rows.length === 0) return notTried("there is nothing in it");
      const columns = table.columns.map(
        ({ name }) => `${instead.get(name) ?? quoted(name)} as ${quoted(name)}`,
      );
      const made = await this.#view(place, `select ${columns.join(", ")} from ${aside}${where}`);
      if (made !== null) return refused(made);
      return this.#left_s() <= 0 ? notTried(NO_TIME) : ask(this.#left_s());
    });
  }

  /** Of the columns that the query names, also through views. */
  async #waysOfColumns(tables: readonly Table[]): Promise<readonly Way[]> {
    const ways: Way[] = [];
    for (const table of tables) {
      const own = table.columns.map((column) => ({ column, ways: waysOfColumn(table, column) }));
      await this.#inPlaceOf(table, async (place, aside) => {
        const whole = await this.#shape(place, aside, table.columns);
        for (const { column, ways: more } of own) {
          if (more.length === 0) continue;
          if (ways.length > MAX_WAYS || this.#left_s() <= 0) return;
          const others = table.columns.filter((each) => each !== column);
          if ((await this.#shape(place, aside, others)) !== whole) ways.push(...more);
        }
      });
    }
    await this.#admin.run(`drop view if exists ${this.#probe}`);
    return ways;
  }

  /** Which columns the query has if the table has only these; null if it has an error then. */
  async #shape(place: string, aside: string, columns: readonly Column[]): Promise<string | null> {
    const names = columns.map(({ name }) => quoted(name)).join(", ");
    const inner = this.#request.query.replace(/[;\s]+$/, "");
    for (const [view, select] of [
      [place, `select ${names} from ${aside}`],
      [this.#probe, `select * from (${inner}\n) q`],
    ] as const)
      if ((await this.#view(view, select)) !== null) return null;
    const listed = await this.#admin.run(
      `select column_name from information_schema.columns where table_schema = database() and table_name = '${this.#probe}' order by ordinal_position`,
    );
    return JSON.stringify(listed.ok ? listed.rows : null);
  }

  /** The error if the server refuses it. */
  async #view(name: string, select: string): Promise<number | null> {
    const sql = `create or replace definer = ${READER}@localhost sql security invoker view ${name} as ${select}`;
    const made = await this.#admin.runForeign(sql);
    return made.ok ? null : made.code;
  }

  async #inPlaceOf<Result>(
    { database, table }: Table,
    use: (place: string, aside: string) => Promise<Result>,
  ): Promise<Result | { kind: "not_tried"; reason: string }> {
    const place = `${quoted(database)}.${quoted(table)}`;
    const aside = `${quoted(database)}.${randomName()}`;
    const moved = await this.#admin.runForeign(`rename table ${place} to ${aside}`);
    if (!moved.ok) return refused(moved.code);
    try {
      return await use(place, aside);
    } finally {
      await this.#putBack(place, aside);
    }
  }

  async #putBack(place: string, aside: string): Promise<void> {
    await this.#admin.runForeign(`drop view if exists ${place}`);
    const back = await this.#admin.runForeign(`rename table ${aside} to ${place}`);
    if (back.ok) return;
    throw new RunError(
      "sandbox_failed",
      `a table could not be put back after a check was tried (error ${back.code})`,
    );
  }

  #left_s(): number {
    return Math.min(this.#request.timeout_s, (this.#deadline - performance.now()) / 1000);
  }
}

const NO_TIME = "no time was left";

function randomName(): string {
  return `attestore_${randomBytes(6).toString("hex")}`;
}

function notTried(reason: string): { kind: "not_tried"; reason: string } {
  return { kind: "not_tried", reason };
}

function refused(code: number): { kind: "not_tried"; reason: string } {
  return notTried(`the server refused it (error ${code})`);
}
