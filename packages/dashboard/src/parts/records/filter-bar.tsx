import { Group, NativeSelect, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { receipts } from "../../text/receipts.ts";

const text = receipts.filter;

/** The filters above a list. */
export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <Group role="search" aria-label={text.label} gap="sm" align="flex-end">
      {children}
    </Group>
  );
}

interface ChoiceProps<Value extends string> {
  label: string;
  /** The label for no choice. */
  all: string;
  value: Value | undefined;
  choices: readonly (readonly [value: Value, label: string])[];
  onChange: (value: Value | undefined) => void;
}

/** A choice of one value or all. */
export function Choice<Value extends string>({ label, all, value, choices, onChange }: ChoiceProps<Value>) {
  return (
    <NativeSelect
      label={label}
      maw="100%"
      value={value ?? ""}
      data={[{ value: "", label: all }, ...choices.map(([each, name]) => ({ value: each, label: name }))]}
      onChange={({ currentTarget }) => onChange(choices.find(([each]) => each === currentTarget.value)?.[0])}
    />
  );
}

interface PeriodProps {
  from: string | undefined;
  to: string | undefined;
  onChange: (period: { from: string | undefined; to: string | undefined }) => void;
}

/** A range of days, both included. */
export function PeriodChoice({ from, to, onChange }: PeriodProps) {
  const isReversed = from !== undefined && to !== undefined && to < from;
  const day = (value: string): string | undefined => (value === "" ? undefined : value);
  return (
    <>
      <TextInput
        type="date"
        label={text.from}
        value={from ?? ""}
        onChange={({ currentTarget }) => onChange({ from: day(currentTarget.value), to })}
      />
      <TextInput
        type="date"
        label={text.to}
        value={to ?? ""}
        error={isReversed ? text.notReversed : undefined}
        onChange={({ currentTarget }) => onChange({ from, to: day(currentTarget.value) })}
      />
    </>
  );
}
