import { Button, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { strings } from "../../text/strings.ts";
import { Dialog } from "./dialog.tsx";
import { FailurePanel } from "../feedback/failure-panel.tsx";

interface ConfirmDialogProps {
  opened: boolean;
  title: string;
  /** Names what is removed and what stays. */
  children: ReactNode;
  /** The verb and its object, e.g. `Revoke host-1`. */
  action: string;
  destructive?: boolean;
  pending: boolean;
  error: unknown;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asks before an action that cannot be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { opened, title, children, action, destructive = true, pending, error, onConfirm, onClose } = props;
  return (
    <Dialog opened={opened} onClose={onClose} title={title}>
      <Stack>
        <div>{children}</div>
        {error !== null && error !== undefined && <FailurePanel error={error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {strings.dialog.cancel}
          </Button>
          <Button color={destructive ? "red.9" : "cyan.9"} loading={pending} onClick={onConfirm}>
            {action}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
