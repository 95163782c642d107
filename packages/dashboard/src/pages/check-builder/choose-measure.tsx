import { NativeSelect, NumberInput, Select, Stack, Text } from "@mantine/core";
import type { ConfigRequest, ResultOf } from "../../api/ask-agent.ts";
import { checkBuilder as text } from "../../text/check-builder.ts";

type TryCheck = Extract<ConfigRequest, { kind: "try_check" }>;
export type Measure = TryCheck["measure"];
type Table = ResultOf<"list_columns">["tables"][number];

/** What is chosen so far. */
export interface Draft {
  measure: Measure;
  table: string | null;
  column: string | null;
  threshold: number | null;
}

export const EMPTY: Draft = { measure: "rows", table: null, column: null, threshold: 1 };

/** The request, without the source; null while something is missing. */
export function requestOf(draft: Draft): Omit<TryCheck, "kind" | "source"> | null {
  const { measure, table, column, threshold } = draft;
  if (table === null || threshold === null) return null;
  if (measure === "rows") return { measure, table, threshold };
  return column === null ? null : { measure, table, column, threshold };
}

interface ChooseMeasureProps {
  tables: readonly Table[];
  draft: Draft;
  onChange: (draft: Draft) => void;
}

/** Names are completed from those that the agent listed; no other can be chosen. */
export function ChooseMeasure({ tables, draft, onChange }: ChooseMeasureProps) {
  const columns = (tables.find(({ name }) => name === draft.table)?.columns ?? []).filter(
    ({ kind }) => draft.measure !== "newest" || kind === "time",
  );
  const isWrong = draft.threshold === null;
  return (
    <Stack maw={420}>
      <NativeSelect
        label={text.measure}
        value={draft.measure}
        data={Object.entries(text.measures).map(([value, label]) => ({ value, label }))}
        onChange={({ currentTarget }) =>
          onChange({ ...draft, measure: measureOf(currentTarget.value), column: null })
        }
      />
      <Select
        label={text.table}
        searchable
        limit={100}
        nothingFoundMessage={text.none}
        data={tables.map(({ name }) => name)}
        value={draft.table}
        onChange={(table) => onChange({ ...draft, table, column: null })}
      />
      {draft.measure !== "rows" && draft.table !== null && columns.length === 0 && (
        <Text size="sm">{text.noTimes}</Text>
      )}
      {draft.measure !== "rows" && columns.length > 0 && (
        <Select
          label={text.column}
          searchable
          limit={100}
          nothingFoundMessage={text.none}
          data={columns.map(({ name }) => name)}
          value={draft.column}
          onChange={(column) => onChange({ ...draft, column })}
        />
      )}
      <NumberInput
        label={draft.measure === "newest" ? text.youngerThan : text.atLeast}
        min={1}
        max={draft.measure === "newest" ? 87_600 : 1_000_000_000_000}
        allowDecimal={false}
        allowNegative={false}
        hideControls
        value={draft.threshold ?? ""}
        error={isWrong ? text.thresholdWrong : null}
        onChange={(value) =>
          onChange({ ...draft, threshold: typeof value === "number" && value >= 1 ? value : null })
        }
      />
    </Stack>
  );
}

function measureOf(value: string): Measure {
  return value in text.measures ? (value as Measure) : "rows";
}
