import type { ConfigRequest } from "@attestore/contract";
import type { Measurables } from "../../engines/measurable.ts";
import { refused } from "./refused.ts";

/** Ten years. */
const MOST_HOURS = 87_600;

/**
 * A check in config.yaml's form, made of names that this host listed. The service's names are only
 * compared with them.
 * @throws UserError request_refused
 */
export function measuredCheck(
  { tables }: Measurables,
  asked: Omit<Extract<ConfigRequest, { kind: "try_check" }>, "kind" | "source">,
): { readonly query: string; readonly expect: string } {
  const { measure, threshold } = asked;
  const table = tables.find(({ name }) => name === asked.table);
  if (table === undefined) throw refused("the source has no such table");
  const column = table.columns.find(({ name }) => name === asked.column);
  if ((measure === "rows") !== (asked.column === undefined))
    throw refused("this measure does not apply to this column");
  if (measure !== "rows" && column === undefined) throw refused("the table has no such column");
  if (measure === "newest") {
    if (column === undefined || column.newest === null) throw refused("the column has no times");
    if (threshold > MOST_HOURS) throw refused(`an age may be at most ${MOST_HOURS} hours`);
    const { sql, slack_h } = column.newest;
    return {
      query: `select ${sql} as newest from ${table.name}`,
      expect: `age(newest) < ${threshold + slack_h}h`,
    };
  }
  const counted = {
    rows: "*",
    distinct: `distinct ${column?.name ?? ""}`,
    filled: column?.name ?? "",
  }[measure];
  return { query: `select count(${counted}) as n from ${table.name}`, expect: `n >= ${threshold}` };
}
