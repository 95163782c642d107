import { Button, type ButtonProps } from "@mantine/core";
import { Hint } from "../marks/hint.tsx";

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
  const disabled =
    disabledReason === null
      ? {}
      : { "aria-disabled": true, "data-disabled": true, "aria-description": disabledReason };
  // One element in both states: otherwise a button that was just pressed would lose the focus.
  return (
    <Hint label={disabledReason}>
      <Button
        {...props}
        {...disabled}
        onClick={(event) => (disabledReason === null ? onClick() : event.preventDefault())}
      >
        {children}
      </Button>
    </Hint>
  );
}
