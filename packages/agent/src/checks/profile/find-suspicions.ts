import type { ColumnProfile, Suspicion, TableProfile } from "@attestore/proof";

/** A table in an earlier test, which nobody found suspicious. */
export interface PastTable {
  /** When its backup was made. */
  readonly madeAt: string;
  readonly table: TableProfile;
}

type NumberMeasure = Exclude<keyof ColumnProfile, "name" | "newest">;

/** With fewer earlier tests, only numbers that are far off are suspicious. */
const FEW_TESTS = 3;
/** Fewer texts that look encrypted are not told. */
const MIN_RANDOM = 5;
const DAY_MS = 24 * 3600 * 1000;
const NEWEST_BACK_MS = 30 * DAY_MS;

/**
 * Suspicious changes in a table. Each number is compared with the value of the whole history that
 * is closest to normal, not with the last one, so a small change each day is noticed too. Numbers
 * that varied in the older half of the history may vary again.
 */
export function findSuspicions(table: TableProfile, past: readonly PastTable[]): Suspicion[] {
  const sorted = past.toSorted((a, b) => (a.madeAt < b.madeAt ? -1 : 1));
  return table.columns.flatMap((column) => {
    const before = sorted.flatMap(({ madeAt, table: { rows, columns } }) => {
      const same = columns.find(({ name }) => name === column.name);
      return same === undefined ? [] : [{ madeAt, rows, column: same }];
    });
    const [first] = [
      random(column, table.rows, before),
      nulls(column, table.rows, before),
      distinct(column, before),
      entropy(column, before),
      length(column, before),
      newest(column, before),
    ].flatMap((found) => found ?? []);
    return first === undefined ? [] : [{ table: table.name, column: column.name, ...first }];
  });
}

interface Past {
  readonly madeAt: string;
  readonly rows: number;
  readonly column: ColumnProfile;
}
type Found = Omit<Suspicion, "table" | "column"> | null;

function random({ random: now }: ColumnProfile, rows: number, past: readonly Past[]): Found {
  const range = rangeOf("random", past.map(withoutTexts));
  if (now === undefined || range === null) return null;
  const { least, spread, tests } = range;
  const noise = 5 * Math.sqrt((least * (1000 - least)) / Math.min(rows, 10_000));
  const allowed = Math.max(tests < FEW_TESTS ? 50 : 3, least / 2, 1.5 * spread) + noise;
  const isMany = ((now - least) * rows) / 1000 >= MIN_RANDOM;
  return isMany && now - least >= allowed ? { measure: "random", now, before: least } : null;
}

/**
 * Where values may be of any type, somebody who encrypts numbers makes texts of them. With many
 * values and too few texts before, none looked encrypted.
 */
function withoutTexts(past: Past): Past {
  const { random: had, distinct: values } = past.column;
  return had !== undefined || values === undefined
    ? past
    : { ...past, column: { ...past.column, random: 0 } };
}

/** A column that is no longer filled has more nulls, but not fewer values. */
function nulls({ nulls: now }: ColumnProfile, rows: number, past: readonly Past[]): Found {
  const range = rangeOf("nulls", past);
  if (range === null) return null;
  const { least, spread } = range;
  const values = (of: number, share: number): number => of * (1000 - share);
  const best = Math.max(...past.map(({ rows: had, column }) => values(had, column.nulls)));
  const isMore = now - least >= 100 + 1.5 * spread;
  return isMore && values(rows, now) < 0.75 * best ? { measure: "nulls", now, before: least } : null;
}

function distinct({ distinct: now }: ColumnProfile, past: readonly Past[]): Found {
  const range = rangeOf("distinct", past);
  if (now === undefined || range === null || range.most < 50) return null;
  const { most, spread } = range;
  return now < most / 2 - 1.5 * spread ? { measure: "distinct", now, before: most } : null;
}

function length({ length: now }: ColumnProfile, past: readonly Past[]): Found {
  const range = rangeOf("length", past);
  if (now === undefined || range === null) return null;
  const { least, most, spread } = range;
  if (now > 2 * least + 16 + 1.5 * spread) return { measure: "length", now, before: least };
  return now < most / 2 - 8 - 1.5 * spread ? { measure: "length", now, before: most } : null;
}

function entropy({ entropy: now, length: long = 0 }: ColumnProfile, past: readonly Past[]): Found {
  const range = rangeOf("entropy", past);
  if (now === undefined || range === null || long < 8) return null;
  const { least, most, spread } = range;
  const allowed = 100 + 1.5 * spread;
  if (now > least + allowed) return { measure: "entropy", now, before: least };
  return now < most - allowed ? { measure: "entropy", now, before: most } : null;
}

/** Times in the future say nothing: plans are carried out some day. */
function newest({ newest: now }: ColumnProfile, past: readonly Past[]): Found {
  const days = past.flatMap(({ madeAt, column: { newest: day } }) =>
    day !== undefined && day <= madeAt.slice(0, 10) ? [day] : [],
  );
  const best = days.toSorted().at(-1);
  if (now === undefined || best === undefined) return null;
  return Date.parse(best) - Date.parse(now) > NEWEST_BACK_MS
    ? { measure: "newest", now, before: best }
    : null;
}

/** A number's usual value, and by how much it varied in the older half of the history. */
function rangeOf(
  measure: NumberMeasure,
  past: readonly Past[],
): {
  readonly least: number;
  readonly most: number;
  readonly spread: number;
  readonly tests: number;
} | null {
  const values = past.flatMap(({ column }) => column[measure] ?? []);
  if (values.length === 0) return null;
  const older = values.slice(0, Math.ceil(values.length / 2));
  return {
    least: Math.min(...values),
    most: Math.max(...values),
    spread: Math.max(...older) - Math.min(...older),
    tests: values.length,
  };
}
