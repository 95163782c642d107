import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useMayManage } from "../../../api/session.ts";
import { sourceSettingsText } from "../../../text/source-settings.ts";

const text = sourceSettingsText.settings;

interface SettingSectionProps {
  heading: string;
  /** The button's accessible name. */
  editLabel: string;
  /** The current setting. */
  children: ReactNode;
  /** The editor that replaces it. */
  editor: (close: () => void) => ReactNode;
}

/**
 * A section of the settings: the current value, and a button that opens the editor for those who
 * may change it.
 */
export function SettingSection({ heading, editLabel, children, editor }: SettingSectionProps) {
  const mayManage = useMayManage();
  const [isEdited, setEdited] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const wasEdited = useRef(false);
  useEffect(() => {
    // Return the focus to the button that opened the editor, once it is back.
    if (wasEdited.current && !isEdited) button.current?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  return (
    <Paper withBorder p="md" component="section" aria-label={heading}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Text fw={600} component="h3" size="lg">
            {heading}
          </Text>
          {mayManage && !isEdited && (
            <Button
              ref={button}
              size="xs"
              variant="default"
              aria-label={editLabel}
              onClick={() => setEdited(true)}
            >
              {text.edit}
            </Button>
          )}
        </Group>
        {isEdited ? editor(() => setEdited(false)) : children}
      </Stack>
    </Paper>
  );
}
