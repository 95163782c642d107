import { createHash } from "node:crypto";
import { firstIdAt } from "@attestore/contract";
import type { ColumnProfile, Suspicion, TableProfile } from "@attestore/proof";
import { ColumnProfiler, type Measured, measureText } from "../src/checks/profile/column-profiler.ts";
import { EarlierTests } from "../src/checks/earlier-tests/earlier-tests.ts";
import type { AcceptedLoss, PassedTest } from "../src/checks/passed-tests.ts";

/** Years of daily restore tests of five applications: how often would something stand out? */

const DAY_MS = 24 * 3600 * 1000;
const START = Date.parse("2026-01-01T03:00:00.000Z");
const DAYS = 365;

type Chance = () => number;

/** The same numbers in every run. */
function random(seed: number): Chance {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Row {
  readonly [column: string]: Measured | null;
}

interface Table {
  readonly rows: number;
  /** New rows of a day. */
  readonly grows: (day: number, chance: Chance) => number;
  readonly columns: Readonly<Record<string, (day: number, chance: Chance) => string | null>>;
  /** What a migration, an archiving or an import does. */
  readonly changes?: (rows: Row[], day: number, chance: Chance) => Row[];
}

const WORDS =
  "please leave the parcel with our neighbours if nobody opens invoice order red large chair table customer was called again on Monday and wants a new delivery before Friday thanks".split(
    " ",
  );
const pick = (from: readonly string[], chance: Chance): string =>
  from[Math.floor(chance() * from.length)] ?? "";
const prose = (least: number, most: number) => (_: number, chance: Chance) =>
  Array.from({ length: least + Math.floor(chance() * (most - least)) }, () => pick(WORDS, chance)).join(" ");
const token = (chance: Chance): string => createHash("sha256").update(String(chance())).digest("base64");
const sometimes =
  (share: number, of: (day: number, chance: Chance) => string | null) => (day: number, chance: Chance) =>
    chance() < share ? of(day, chance) : null;
const email = (_: number, chance: Chance): string =>
  `${pick(WORDS, chance)}.${pick(WORDS, chance)}${Math.floor(chance() * 100)}@example.com`;
/** Somebody pastes a key into a text now and then. */
const withKeys =
  (share: number, of: (day: number, chance: Chance) => string) => (day: number, chance: Chance) =>
    chance() < share ? token(chance) : of(day, chance);
const daily = (rows: number) => (_: number, chance: Chance) => Math.round(rows * 2 * chance());
const last =
  (count: number) =>
  (rows: Row[]): Row[] =>
    rows.slice(-count);
/** Each row gets a value in a column. */
const fill = (rows: Row[], column: string, of: (row: Row) => string | null): Row[] =>
  rows.map((row) => ({ ...row, [column]: measured(of(row)) }));

export const APPLICATIONS: Readonly<Record<string, Readonly<Record<string, Table>>>> = {
  "a shop": {
    orders: {
      rows: 900,
      grows: (day, chance) => Math.round((day > 325 ? 12 : 3) * chance()),
      columns: { note: sometimes(0.4, withKeys(0.0005, prose(4, 20))), status: (_, c) => pick(WORDS, c) },
    },
    customers: {
      rows: 1100,
      grows: daily(1),
      columns: { email, password: (_, chance) => `$2b$12$${token(chance)}` },
    },
    products: {
      rows: 1000,
      grows: daily(0.3),
      columns: { description: prose(20, 60) },
      // The descriptions become HTML.
      changes: (rows, day) =>
        day === 120
          ? fill(rows, "description", (row) => `<div class="text"><p>${row["description"]?.value}</p></div>`)
          : rows,
    },
  },
  "software for tenants": {
    events: {
      rows: 1200,
      grows: daily(150),
      // Weekends have more calls by programs, with keys in them.
      columns: {
        payload: (day, chance) =>
          chance() < (day % 7 > 4 ? 0.18 : 0.1)
            ? token(chance)
            : `{"user":"${pick(WORDS, chance)}","ok":true}`,
      },
      changes: last(1200),
    },
    users: {
      rows: 1000,
      grows: daily(2),
      columns: {
        name: prose(2, 4),
        api_key: (day, chance) => (day > 200 && chance() < 0.5 ? token(chance) : null),
      },
    },
  },
  "a content system": {
    posts: {
      rows: 1000,
      grows: (day, chance) => (day === 150 ? 800 : Math.round(2 * chance())),
      columns: {
        body: withKeys(0.001, prose(30, 90)),
        slug: (_, chance) =>
          Array.from({ length: 6 }, () => pick(WORDS, chance))
            .join("-")
            .toLowerCase(),
      },
    },
    revisions: {
      rows: 1000,
      grows: daily(15),
      columns: { body: prose(30, 90) },
      changes: (rows, day) => (day % 30 === 29 ? rows.slice(-1000) : rows),
    },
    comments: { rows: 1000, grows: daily(3), columns: { text: withKeys(0.01, prose(3, 30)) } },
  },
  "measurements that are kept for a year": {
    readings: {
      rows: 1500,
      grows: () => 40,
      columns: { value: (_, chance) => String(Math.round(chance() * 10_000) / 100) },
      changes: (rows, day) => (day % 30 === 29 ? rows.slice(-1500) : rows),
    },
    devices: {
      rows: 600,
      grows: daily(0.3),
      columns: { firmware: (day) => `v${Math.floor(day / 60)}.2`, label: prose(2, 6) },
      // An update reaches all of them at once.
      changes: (rows, day) => (day % 60 === 30 ? fill(rows, "firmware", () => `v${day}.2`) : rows),
    },
  },
  "accounts that are archived at the end of the year": {
    bookings: {
      rows: 1400,
      grows: daily(3),
      columns: {
        text: prose(3, 10),
        reference: (_, c) => `RE-2026-${Math.floor(c() * 1e6)}-${pick(WORDS, c)}`,
      },
      changes: (rows, day) => (day === 300 ? rows.slice(-Math.round(rows.length * 0.6)) : rows),
    },
    files: {
      rows: 1000,
      grows: (day, chance) => (day % 45 === 44 ? 100 : Math.round(2 * chance())),
      // The imported ones are named after what they hold.
      columns: {
        name: (day, chance) =>
          chance() < (day % 45 === 44 ? 0.35 : 0.2) ? token(chance) : `${prose(1, 4)(day, chance)}.pdf`,
      },
    },
  },
};

function measured(value: string | null): Measured | null {
  return value === null ? null : { ...measureText(value, value.length), value };
}

function profileOf(name: string, rows: readonly Row[], { columns }: Table): TableProfile {
  const profiles = Object.keys(columns).flatMap((column): ColumnProfile[] => {
    const profiler = new ColumnProfiler(column, 7);
    for (const row of rows) profiler.add(row[column] ?? null);
    return [profiler.end() ?? []].flat();
  });
  return { name, rows: rows.length, columns: profiles };
}

export interface Alarm extends Suspicion {
  readonly day: number;
}

/** What happens to a table's rows on a day. */
export type Damage = (rows: Row[], table: string, day: number, columns: readonly string[]) => Row[];

export interface Year {
  /** Other seeds are other years of the same application. */
  readonly seed: number;
  readonly damage?: Damage;
  /** The last day; the whole year without it. */
  readonly until?: number;
}

/** All alarms of a year, where somebody accepts each false one. */
export function alarmsOf(source: string, { seed, damage, until = DAYS - 1 }: Year): Alarm[] {
  const chance = random(seed);
  const tables = Object.entries(APPLICATIONS[source] ?? {});
  const row = ({ columns }: Table, day: number): Row =>
    Object.fromEntries(Object.entries(columns).map(([name, of]) => [name, measured(of(day, chance))]));
  const data = new Map(
    tables.map(([name, table]) => [name, Array.from({ length: table.rows }, () => row(table, 0))]),
  );
  const alarms: Alarm[] = [];
  const accepted: AcceptedLoss[] = [];
  let tests: PassedTest[] = [];
  for (let day = 0; day <= until; day += 1) {
    const now = START + day * DAY_MS;
    const at = new Date(now).toISOString();
    // Migrations and seasons come on another day of the tests' year.
    const date = day + (seed % 53);
    for (const [name, table] of tables) {
      const more = Array.from({ length: table.grows(date, chance) }, () => row(table, date));
      const grown = [...(data.get(name) ?? []), ...more];
      const changed = table.changes?.(grown, date, chance) ?? grown;
      data.set(name, damage?.(changed, name, day, Object.keys(table.columns)) ?? changed);
    }
    const seen = new EarlierTests({ source: "simulated", tests, accepted, now });
    const profiles = tables.map(([name, table]) => profileOf(name, data.get(name) ?? [], table));
    const suspicious = profiles.flatMap((table) => seen.profiles.suspicions(table));
    alarms.push(...suspicious.map((each) => ({ ...each, day })));
    if (damage === undefined) accepted.push(...suspicious.map(({ table }) => ({ table, at, upTo: at })));
    const profile = { v: 1 as const, tables: profiles, left_out: 0, suspicious };
    tests = [{ at, madeAt: at, backupId: firstIdAt("backup", now), checks: [], profile }, ...tests].slice(
      0,
      90,
    );
    if (damage !== undefined && alarms.length > 50) break;
  }
  return alarms;
}

/** A share of a column's texts encrypted on one day, in place. */
export const encryptSome =
  (victim: string, column: string, share: number, on: number): Damage =>
  (rows, table, day) =>
    table !== victim || day !== on
      ? rows
      : rows.map((row, index) =>
          index % Math.round(1 / share) === 0
            ? { ...row, [column]: measured(createHash("sha512").update(`${index}`).digest("base64")) }
            : row,
        );

/** One text column of each application in which keys and tokens are no ordinary values. */
export const VICTIMS = [
  ["a shop", "products", "description"],
  ["a shop", "customers", "email"],
  ["software for tenants", "users", "name"],
  ["a content system", "posts", "body"],
  ["measurements that are kept for a year", "devices", "label"],
  ["accounts that are archived at the end of the year", "bookings", "text"],
] as const;
