import { Button, CloseButton, Text } from "@mantine/core";
import { useRef } from "react";
import { closeToast, useToasts } from "../parts/feedback/toasts.ts";
import { strings } from "../text/strings.ts";
import classes from "./toast-region.module.css";

/** What was done just now, at the page's edge. Screen readers announce it. */
export function ToastRegion() {
  const toasts = useToasts();
  // Where the focus was before a toast's button took it, which goes with the toast.
  const before = useRef<Element | null>(null);
  const close = (id: number): void => {
    closeToast(id);
    if (before.current instanceof HTMLElement) before.current.focus();
  };
  return (
    <div
      role="status"
      className={classes["region"]}
      onFocus={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) before.current = relatedTarget;
      }}
    >
      {toasts.map(({ id, text, action, isFailure }) => (
        <div key={id} className={classes["toast"]} data-toast={id} data-failure={isFailure}>
          <Text size="sm">{text}</Text>
          {action !== undefined && (
            <Button
              size="compact-sm"
              variant="default"
              flex="none"
              onClick={() => {
                close(id);
                action.run();
              }}
            >
              {action.label}
            </Button>
          )}
          <CloseButton size="sm" aria-label={strings.dialog.close} onClick={() => close(id)} />
        </div>
      ))}
    </div>
  );
}
