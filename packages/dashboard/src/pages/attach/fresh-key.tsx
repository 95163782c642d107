import type { Schemas } from "@attestore/contract/client";
import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { CommandText } from "../../parts/command-text.tsx";
import { FactList } from "../../parts/fact-list.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Section } from "../../parts/section.tsx";
import { attach } from "../../text/attach.ts";
import { NewAgents } from "./new-agents.tsx";
import { SecretText } from "../../parts/secret-text.tsx";
import { useServedForHosts } from "../../api/served-for-hosts.ts";

const text = attach.key;

/** A new key. It exists only in this page's memory. */
export function FreshKey({ minted, onDone }: { minted: Schemas["AuthKeyMinted"]; onDone: () => void }) {
  const served = useServedForHosts();
  return (
    <Stack>
      <Section title={text.made}>
        <Alert color="orange" variant="light" role="status">
          {text.shownOnce}
        </Alert>
        <SecretText secret={minted.auth_key} label={text.secret} copy={text.copySecret} />
        <FactList
          facts={[
            [text.expiresAt, <Moment key="expires" at={minted.expires_at} />],
            [text.uses_, minted.max_uses === null ? text.unlimited : String(minted.max_uses)],
          ]}
        />
        <Text fw={600}>{text.command}</Text>
        {/* A key's command stays what it was when the key was made. */}
        {minted.install_command.startsWith("npx ") && (
          <Text size="sm">
            {served?.hasPackages === true ? text.builtSince : `${attach.onlyHere} ${text.anotherKey}`}
          </Text>
        )}
        <CommandText text={minted.install_command} label={text.command} />
        <Group>
          <Button variant="default" onClick={onDone}>
            {text.noted}
          </Button>
        </Group>
      </Section>
      <NewAgents orgId={minted.org_id} since={minted.created_at} />
    </Stack>
  );
}
