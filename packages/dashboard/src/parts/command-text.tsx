import { Box, Code, Group } from "@mantine/core";
import { CopyButton } from "./copy-button.tsx";

/** Commands to copy and run elsewhere. */
export function CommandText({ text, label }: { text: string; label: string }) {
  return (
    <Box>
      <Code
        block
        tabIndex={0}
        aria-label={label}
        style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
      >
        {text}
      </Code>
      <Group justify="flex-end" mt={4}>
        <CopyButton text={text} />
      </Group>
    </Box>
  );
}
