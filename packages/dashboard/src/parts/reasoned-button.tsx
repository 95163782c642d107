import { Button, type ButtonProps, Tooltip } from "@mantine/core";

interface ReasonedButtonProps extends ButtonProps {
  onClick: () => void;
  /** Why it is disabled; null if it is not. */
  disabledReason: string | null;
}

/**
 * A button that says why it is disabled. It stays focusable, so that keyboard users can read the
 * reason too.
 */
export function ReasonedButton({ disabledReason, onClick, children, ...props }: ReasonedButtonProps) {
  if (disabledReason === null)
    return (
      <Button {...props} onClick={onClick}>
        {children}
      </Button>
    );
  return (
    <Tooltip
      label={disabledReason}
      events={{ hover: true, focus: true, touch: true }}
      // Inside the page's landmark, for people who navigate by landmarks.
      withinPortal={false}
    >
      <Button
        {...props}
        aria-disabled="true"
        data-disabled
        aria-description={disabledReason}
        onClick={(event) => event.preventDefault()}
      >
        {children}
      </Button>
    </Tooltip>
  );
}
