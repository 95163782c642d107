import { Button, CloseButton, Text } from "@mantine/core";
import { closeToast, useToasts } from "../parts/toasts.ts";
import { strings } from "../text/strings.ts";
import classes from "./toast-region.module.css";

/** What was done just now, at the page's edge. Screen readers announce it. */
export function ToastRegion() {
  const toasts = useToasts();
  return (
    <div role="status" className={classes["region"]}>
      {toasts.map(({ id, text, undo }) => (
        <div key={id} className={classes["toast"]}>
          <Text size="sm">{text}</Text>
          {undo !== undefined && (
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => {
                undo();
                closeToast(id);
              }}
            >
              {strings.toast.undo}
            </Button>
          )}
          <CloseButton size="sm" aria-label={strings.dialog.close} onClick={() => closeToast(id)} />
        </div>
      ))}
    </div>
  );
}
