import { Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { ReasonedButton } from "./reasoned-button.tsx";

interface RemovalButtonProps {
  /** The name of what is removed. */
  name: string;
  words: { action: string; of: (name: string) => string; title: (name: string) => string; stays: string };
  goes: string;
  disabledReason: string | null;
  removal: {
    isPending: boolean;
    error: Error | null;
    mutate: (given: undefined, then: { onSuccess: () => void }) => void;
  };
}

/** A table row's removal button. Before removing, it names what is removed and what stays. */
export function RemovalButton({ name, words, goes, disabledReason, removal }: RemovalButtonProps) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <ReasonedButton
        size="xs"
        variant="default"
        aria-label={words.of(name)}
        disabledReason={disabledReason}
        onClick={open}
      >
        {words.action}
      </ReasonedButton>
      <ConfirmDialog
        opened={opened}
        title={words.title(name)}
        action={words.of(name)}
        pending={removal.isPending}
        error={removal.error}
        onConfirm={() => removal.mutate(undefined, { onSuccess: close })}
        onClose={close}
      >
        <Stack gap="xs">
          <Text size="sm">{goes}</Text>
          <Text size="sm">{words.stays}</Text>
        </Stack>
      </ConfirmDialog>
    </>
  );
}
