import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { strings } from "../text/strings.ts";

/** Copies a text; says for a moment that it did. */
export function CopyButton({ text, label = strings.copy.copy }: { text: string; label?: string }) {
  const clipboard = useClipboard({ timeout: 2000 });
  return (
    <Button size="xs" variant="default" onClick={() => clipboard.copy(text)} aria-live="polite">
      {clipboard.error !== null ? strings.copy.failed : clipboard.copied ? strings.copy.copied : label}
    </Button>
  );
}
