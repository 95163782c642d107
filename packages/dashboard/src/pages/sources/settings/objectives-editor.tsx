import { Group, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { EditorForm } from "./editor-form.tsx";
import type { SourceDetail } from "../queries.ts";
import { readDuration, type TypedDuration, typedDuration, UNITS } from "../typed-duration.ts";
import { useChange } from "./use-configure.ts";

const text = sourceSettingsText.objectives;

/** Sets the objectives that backups and restores are compared with. */
export function ObjectivesEditor({ source, onClose }: { source: SourceDetail; onClose: () => void }) {
  const [rpo, setRpo] = useState(() => typedDuration(source.objectives?.rpo_s));
  const [rto, setRto] = useState(() => typedDuration(source.objectives?.rto_s));
  const change = useChange(source, text.heading.toLowerCase());
  const [rpo_s, rto_s] = [readDuration(rpo), readDuration(rto)];
  const save = (): void => {
    const objectives = {
      ...(typeof rpo_s === "number" ? { rpo_s } : {}),
      ...(typeof rto_s === "number" ? { rto_s } : {}),
    };
    onClose();
    change({ objectives: Object.keys(objectives).length === 0 ? null : objectives });
  };
  return (
    <EditorForm
      label={text.edit}
      problem={rpo_s === null || rto_s === null ? text.invalid : null}
      onSave={save}
      onCancel={onClose}
    >
      <DurationField label={text.rpo} value={rpo} onChange={setRpo} isWrong={rpo_s === null} autoFocus />
      <DurationField label={text.rto} value={rto} onChange={setRto} isWrong={rto_s === null} />
    </EditorForm>
  );
}

interface DurationFieldProps {
  label: string;
  value: TypedDuration;
  onChange: (value: TypedDuration) => void;
  isWrong: boolean;
  autoFocus?: boolean;
}

function DurationField({ label, value, onChange, isWrong, autoFocus = false }: DurationFieldProps) {
  return (
    <Group align="flex-start" gap="sm" wrap="nowrap">
      <TextInput
        label={label}
        description={text.hint}
        inputMode="decimal"
        maxLength={12}
        autoFocus={autoFocus}
        value={value.amount}
        error={isWrong ? text.invalid : undefined}
        onChange={(event) => onChange({ ...value, amount: event.currentTarget.value })}
        inputWrapperOrder={["label", "input", "error", "description"]}
        flex="1 1 12rem"
      />
      <NativeSelect
        label={text.unit}
        aria-label={text.unitOf(label)}
        value={value.unit}
        onChange={(event) => onChange({ ...value, unit: event.currentTarget.value })}
        data={UNITS.map((unit) => ({ value: unit, label: text.units[unit] }))}
        flex="0 1 8rem"
      />
    </Group>
  );
}
