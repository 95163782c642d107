import { Group, NativeSelect, Text, TextInput } from "@mantine/core";
import { useId } from "react";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { readCron, tidyCron } from "./cron-words.ts";

const text = sourceSettingsText.schedule;

interface CronFieldProps {
  label: string;
  presetLabel: string;
  value: string;
  onChange: (value: string) => void;
  /** The service's error for this field. */
  issue: string | undefined;
  autoFocus?: boolean;
}

/** An input for five cron fields, with its meaning in words and common schedules. */
export function CronField({ label, presetLabel, value, onChange, issue, autoFocus = false }: CronFieldProps) {
  const reading = readCron(value);
  const wordsId = useId();
  const preset = text.presets.find((known) => known.value === tidyCron(value))?.value ?? "";
  return (
    <div>
      <Group align="flex-start" gap="sm">
        <TextInput
          label={label}
          description={text.hint}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
          error={reading.is === "wrong" ? reading.problem : issue}
          maxLength={100}
          autoFocus={autoFocus}
          autoComplete="off"
          spellCheck={false}
          aria-describedby={wordsId}
          inputWrapperOrder={["label", "input", "error", "description"]}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          flex="1 1 16rem"
        />
        <NativeSelect
          label={text.preset}
          aria-label={presetLabel}
          value={preset}
          onChange={(event) => onChange(event.currentTarget.value)}
          data={text.presets.map(({ label: name, value: pattern }) => ({ label: name, value: pattern }))}
          flex="1 1 12rem"
        />
      </Group>
      <Text size="sm" role="status" id={wordsId} mt={4}>
        {reading.is === "words" && reading.words}
        {reading.is === "empty" && sourceSettingsText.cron.empty}
        {reading.is === "words" && reading.everyMinute && <b> {sourceSettingsText.cron.everyMinute}</b>}
      </Text>
    </div>
  );
}
