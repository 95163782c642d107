import { Alert, Button, Code, Group } from "@mantine/core";
import { useEffect, useRef } from "react";
import { CopyButton } from "../../parts/facts/copy-button.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { passkeys } from "../../text/passkeys.ts";

const text = passkeys.codes;

interface MadeCodesProps {
  codes: readonly string[];
  email: string;
  onDone: () => void;
}

/** New recovery codes. They exist only in this page's memory. */
export function MadeCodes({ codes, email, onDone }: MadeCodesProps) {
  const shown = useRef<HTMLElement>(null);
  // Show them above the button that was pressed: they are the most important thing now.
  useEffect(() => shown.current?.focus(), [codes]);
  const list = codes.join("\n");
  const file = text.fileText(email, window.location.origin, codes);
  return (
    <Section title={text.shown}>
      <Alert color="orange" variant="light" role="status">
        {text.shownOnce}
      </Alert>
      <Code
        block
        ref={shown as React.Ref<HTMLElement & HTMLPreElement>}
        tabIndex={0}
        aria-label={text.list}
        fz="md"
      >
        {list}
      </Code>
      <Group>
        <CopyButton text={list} label={text.copy} />
        <Button
          size="xs"
          variant="default"
          component="a"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(file)}`}
          download={text.file}
        >
          {text.download}
        </Button>
        <Button size="xs" onClick={onDone}>
          {text.noted}
        </Button>
      </Group>
    </Section>
  );
}
