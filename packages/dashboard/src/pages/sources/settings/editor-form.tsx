import { Button, Group, Stack } from "@mantine/core";
import type { ReactNode, SubmitEvent } from "react";
import { FailurePanel } from "../../../parts/feedback/failure-panel.tsx";
import { ReasonedButton } from "../../../parts/actions/reasoned-button.tsx";
import { sourceSettingsText } from "../../../text/source-settings.ts";

const text = sourceSettingsText.settings;

interface EditorFormProps {
  label: string;
  children: ReactNode;
  /** Why it cannot be saved now; null if it can. */
  problem: string | null;
  saveLabel?: string;
  /** Saving removes something permanently. */
  isDestructive?: boolean;
  /** For what is not shown as saved before it is. */
  pending?: boolean;
  error?: Error | null;
  onSave: () => void;
  onCancel: () => void;
}

/** The frame of an editor: its fields, what went wrong, save and cancel. Escape cancels. */
export function EditorForm(props: EditorFormProps) {
  const {
    label,
    children,
    problem,
    saveLabel = text.save,
    isDestructive = false,
    pending = false,
    error = null,
    onSave,
    onCancel,
  } = props;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (problem === null && !pending) onSave();
  };
  return (
    <form
      aria-label={label}
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel();
      }}
    >
      <Stack>
        {children}
        {error !== null && <FailurePanel error={error} />}
        {/* Enter in a field also saves. */}
        <input type="submit" hidden />
        <Group justify="flex-end">
          <Button variant="default" onClick={onCancel}>
            {text.cancel}
          </Button>
          <ReasonedButton
            {...(isDestructive ? { color: "red.9" } : {})}
            loading={pending}
            disabledReason={problem}
            onClick={onSave}
          >
            {saveLabel}
          </ReasonedButton>
        </Group>
      </Stack>
    </form>
  );
}
