import { Code, Group } from "@mantine/core";
import { CopyButton } from "./copy-button.tsx";

/** A secret that is shown once, to select or copy. */
export function SecretText({ secret, label, copy }: { secret: string; label: string; copy: string }) {
  return (
    <Group gap="xs" align="center">
      <Code
        tabIndex={0}
        aria-label={label}
        fz="md"
        style={{ overflowWrap: "anywhere", whiteSpace: "normal", userSelect: "all" }}
      >
        {secret}
      </Code>
      <CopyButton text={secret} label={copy} />
    </Group>
  );
}
