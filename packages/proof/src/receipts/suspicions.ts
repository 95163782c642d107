import type { Suspicion } from "./statement.ts";

/** For people: `public.orders.note: 1 % of the texts look encrypted; it was 0 %`. */
export function suspicionText({ table, column, measure, now, before }: Suspicion): string {
  const { what, unit } = WORDS[measure];
  if (table === "*") return `${what} ${unit(now)}; it was ${unit(before)}`;
  if (table === TREE) {
    const words = FILE_WORDS[measure] ?? { what, unit };
    return `files (${column}): ${words.what} ${words.unit(now)}; it was ${words.unit(before)}`;
  }
  return `${table}.${column}: ${what} ${unit(now)}; it was ${unit(before)}`;
}

/** Whether this version has words for a measure of this name. */
export function isMeasure(text: string): text is Suspicion["measure"] {
  return Object.hasOwn(WORDS, text);
}

/** A tree of files in place of a table. */
const TREE = ".";

type Value = number | string;

const percent = (value: Value): string => `${Number(value) / 10} %`;

interface Words {
  readonly what: string;
  readonly unit: (value: Value) => string;
}

const WORDS: Readonly<Record<Suspicion["measure"], Words>> = {
  random: { what: "the share of texts that look encrypted is", unit: percent },
  nulls: { what: "the share of rows without a value is", unit: percent },
  distinct: { what: "the share of different values is", unit: percent },
  length: { what: "the typical length is", unit: (value) => `${value} bytes` },
  entropy: { what: "the entropy is", unit: (value) => `${Number(value) / 100} bits a character` },
  newest: { what: "the newest time is", unit: String },
  tables: { what: "the number of tables with a profile is", unit: String },
  files: { what: "the number of files is", unit: String },
  mismatched: { what: "the share that is not what the names say is", unit: percent },
  renamed: { what: "the share of names as ransomware makes them is", unit: percent },
  notes: { what: "the number of names of known ransom notes is", unit: String },
};

const FILE_WORDS: Readonly<Partial<Record<Suspicion["measure"], Words>>> = {
  random: { what: "the share that looks encrypted is", unit: percent },
  entropy: { what: "the entropy of their starts is", unit: (value) => `${Number(value) / 100} bits a byte` },
};
