import type { Schemas } from "@attestore/contract/client";
import { Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { SecretText } from "../../parts/facts/secret-text.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { attach } from "../../text/attach.ts";
import { AllowRemoteConfig, allowing } from "./allow-remote-config.tsx";
import { NewAgents } from "./new-agents.tsx";
import { OtherHosts } from "./other-hosts.tsx";

const text = attach.key;

/** A new key. It exists only in this page's memory. */
export function FreshKey({ minted, onDone }: { minted: Schemas["AuthKeyMinted"]; onDone: () => void }) {
  const { install_command: command, max_uses: uses } = minted;
  const [isAllowed, setIsAllowed] = useState(false);
  // A key's command stays what it was when the key was made.
  const isOnlyHere = command.startsWith("npx ");
  return (
    <Stack>
      <Section title={text.run}>
        {isOnlyHere && <Text size="sm">{attach.onlyHere}</Text>}
        <AllowRemoteConfig checked={isAllowed} onChange={setIsAllowed} />
        <CommandText text={isAllowed ? allowing(command) : command} label={text.command} />
        <OtherHosts wasMadeWithout={isOnlyHere} />
      </Section>
      <Section title={text.enter}>
        <SecretText secret={minted.auth_key} label={text.secret} copy={text.copySecret} />
        <Text size="sm" role="status">
          {text.shownOnce} {text.works.before}
          <Moment at={minted.expires_at} />
          {text.works.agents(uses)}
        </Text>
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
