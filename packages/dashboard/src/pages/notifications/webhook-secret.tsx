import { Alert, Button, Group } from "@mantine/core";
import { SecretText } from "../../parts/facts/secret-text.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { notifications } from "../../text/notifications.ts";
import type { ShownSecret } from "./shown-secret.ts";

const text = notifications.secret;

/** A new secret. It exists only in this page's memory. */
export function WebhookSecret({ shown, onDone }: { shown: ShownSecret; onDone: () => void }) {
  return (
    <Section title={shown.title}>
      <Alert color="orange" variant="light" role="status">
        {text.shownOnce}
      </Alert>
      <SecretText secret={shown.secret} label={text.label} copy={text.copy} />
      <Group>
        <Button variant="default" onClick={onDone}>
          {text.noted}
        </Button>
      </Group>
    </Section>
  );
}
