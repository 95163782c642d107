import { Alert, Button, Group } from "@mantine/core";
import { SecretText } from "../../parts/facts/secret-text.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { auditor } from "../../text/auditor.ts";

const text = auditor.made;

/** A new link. It exists only in this page's memory. */
export function MadeLink({ url, onDone }: { url: string; onDone: () => void }) {
  return (
    <Section title={text.title}>
      <Alert color="orange" variant="light" role="status">
        {text.shownOnce}
      </Alert>
      <SecretText secret={url} label={text.link} copy={text.copy} />
      <Group>
        <Button variant="default" onClick={onDone}>
          {text.noted}
        </Button>
      </Group>
    </Section>
  );
}
