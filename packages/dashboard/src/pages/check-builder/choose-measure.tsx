import { NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ConfigRequest, ResultOf } from "../../api/ask-agent.ts";
import { checkBuilder as text } from "../../text/check-builder.ts";
import { ListedName } from "./listed-name.tsx";

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

/** The largest threshold of each: hours of the newest time, otherwise rows or values. */
const MOST: Record<Measure, number> = { rows: 1e12, distinct: 1e12, filled: 1e12, newest: 87_600 };

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
  const [threshold, setThreshold] = useState(String(draft.threshold ?? ""));
  return (
    <Stack maw={420}>
      <NativeSelect
        label={text.measure}
        value={draft.measure}
        data={Object.entries(text.measures).map(([value, label]) => ({ value, label }))}
        onChange={({ currentTarget }) => {
          const measure = measureOf(currentTarget.value);
          onChange({ ...draft, measure, column: null, threshold: wholeNumber(threshold, MOST[measure]) });
        }}
      />
      <ListedName
        label={text.table}
        names={tables.map(({ name }) => name)}
        onChoose={(table) => onChange({ ...draft, table, column: null })}
      />
      {draft.measure !== "rows" && draft.table !== null && columns.length === 0 && (
        <Text size="sm">{text.noTimes}</Text>
      )}
      {draft.measure !== "rows" && columns.length > 0 && (
        <ListedName
          key={`${draft.measure} ${draft.table}`}
          label={text.column}
          names={columns.map(({ name }) => name)}
          onChoose={(column) => onChange({ ...draft, column })}
        />
      )}
      <TextInput
        label={draft.measure === "newest" ? text.youngerThan : text.atLeast}
        inputMode="numeric"
        value={threshold}
        error={draft.threshold === null ? text.thresholdWrong : null}
        onChange={({ currentTarget }) => {
          setThreshold(currentTarget.value);
          onChange({ ...draft, threshold: wholeNumber(currentTarget.value, MOST[draft.measure]) });
        }}
      />
    </Stack>
  );
}

function measureOf(value: string): Measure {
  return value in text.measures ? (value as Measure) : "rows";
}

/** From 1 to `most`; null for anything else. */
function wholeNumber(typed: string, most: number): number | null {
  const value = /^[0-9]{1,15}$/.test(typed.trim()) ? Number(typed) : 0;
  return value >= 1 && value <= most ? value : null;
}
