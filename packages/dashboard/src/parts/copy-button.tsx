import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { strings } from "../text/strings.ts";

interface CopyButtonProps {
  text: string;
  label?: string;
  /** Details read out as, where its label alone does not say what is copied. */
  name?: string;
}

/** Copies a text; says for a moment that it did. */
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
