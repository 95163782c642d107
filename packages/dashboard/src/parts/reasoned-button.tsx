import { Button, type ButtonProps, Tooltip } from "@mantine/core";

interface ReasonedButtonProps extends ButtonProps {
  onClick: () => void;
  /** Why it cannot be pressed; null where it can. */
  disabledReason: string | null;
}

/** A button that says why it is disabled: it keeps its place in the order of the keyboard, so that everybody learns it. */
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
      // In the page's own landmark, for those who go by them.
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
