import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { strings } from "../../text/strings.ts";

interface CopyButtonProps {
  text: string;
  label?: string;
  /** The accessible name, if the label alone does not say what is copied. */
  name?: string;
}

/** Copies a text, and briefly confirms it. */
export function CopyButton({ text, label = strings.copy.copy, name }: CopyButtonProps) {
  const clipboard = useClipboard({ timeout: 2000 });
  return (
    <Button
      size="xs"
      variant="default"
      onClick={() => clipboard.copy(text)}
      aria-live="polite"
      {...(name === undefined || clipboard.copied ? {} : { "aria-label": name })}
    >
      {clipboard.error !== null ? strings.copy.failed : clipboard.copied ? strings.copy.copied : label}
    </Button>
  );
}
