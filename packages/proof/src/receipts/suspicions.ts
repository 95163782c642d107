import type { Suspicion } from "./statement.ts";

/** For people: `public.orders.note: 1 % of the texts look encrypted; it was 0 %`. */
export function suspicionText({ table, column, measure, now, before }: Suspicion): string {
  const { what, unit } = WORDS[measure];
  return `${table}.${column}: ${what} ${unit(now)}; it was ${unit(before)}`;
}

type Value = number | string;

const percent = (value: Value): string => `${Number(value) / 10} %`;

const WORDS: Readonly<
  Record<Suspicion["measure"], { readonly what: string; readonly unit: (value: Value) => string }>
> = {
  random: { what: "the share of texts that look encrypted is", unit: percent },
  nulls: { what: "the share of rows without a value is", unit: percent },
  distinct: { what: "the share of different values is", unit: percent },
  length: { what: "the typical length is", unit: (value) => `${value} bytes` },
  entropy: { what: "the entropy is", unit: (value) => `${Number(value) / 100} bits a character` },
  newest: { what: "the newest time is", unit: String },
};
