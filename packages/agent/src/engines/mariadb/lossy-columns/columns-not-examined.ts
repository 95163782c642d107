import type { NotCompared, WhyNotCompared } from "../../content/not-compared.ts";
import type { ExaminedColumns } from "./examine-columns.ts";

/** What was found in one snapshot. */
export interface ExaminedKinds {
  readonly floats: ExaminedColumns;
  readonly texts: ExaminedColumns;
  readonly enums: ExaminedColumns;
  readonly json: ExaminedColumns;
  readonly jsonTypes: readonly string[];
}

/**
 * Columns with values that a dump cannot tell from others, and those that it may have changed,
 * because at least one of the looks at the source did not get to them: a value may have come and
 * gone between the two.
 */
export function columnsNotExamined(looks: readonly ExaminedKinds[]): NotCompared[] {
  const named = (why: WhyNotCompared, names: readonly string[]): NotCompared[] =>
    [...new Set(names)].map((name) => ({ name, why }));
  return [
    // A receipt has room for some names, and a comparison needs these.
    ...named(
      "json_not_examined",
      looks.flatMap(({ json }) => json.notExamined),
    ),
    ...named(
      "json_types",
      looks.flatMap(({ jsonTypes }) => jsonTypes),
    ),
    ...named(
      "float_not_examined",
      looks.flatMap(({ floats }) => floats.notExamined),
    ),
    ...named(
      "text_not_examined",
      looks.flatMap(({ texts }) => texts.notExamined),
    ),
    ...named(
      "enum_ambiguous",
      looks.flatMap(({ enums }) => enums.changed),
    ),
    ...named(
      "enum_not_examined",
      looks.flatMap(({ enums }) => enums.notExamined),
    ),
  ];
}
