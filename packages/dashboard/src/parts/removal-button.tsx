import { Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { ConfirmDialog } from "./confirm-dialog.tsx";
import { ReasonedButton } from "./reasoned-button.tsx";

interface RemovalButtonProps {
  /** Of what goes. */
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

/** In a table's row: ends what the row is about, after it was said by name what goes with it and what stays. */
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
