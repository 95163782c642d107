import type { Schemas } from "@attestore/contract/client";
import { Box, Button, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { rememberCommand } from "../../api/served-for-hosts.ts";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { attach } from "../../text/attach.ts";
import { FreshKey } from "./fresh-key.tsx";
import { OtherHosts } from "./other-hosts.tsx";

const text = attach.key;

const EXPIRIES = { hour: 3600, day: 86_400, week: 7 * 86_400, quarter: 90 * 86_400 } as const;
type Expiry = keyof typeof EXPIRIES;

/**
 * Makes an auth key and shows it, with the command that installs the agent, until the reader is
 * done.
 */
export function WithKey({ orgId }: { orgId: string }) {
  const [minted, setMinted] = useState<Schemas["AuthKeyMinted"] | null>(null);
  if (minted !== null) return <FreshKey minted={minted} onDone={() => setMinted(null)} />;
  return <KeyForm orgId={orgId} onMinted={setMinted} />;
}

function KeyForm({
  orgId,
  onMinted,
}: {
  orgId: string;
  onMinted: (minted: Schemas["AuthKeyMinted"]) => void;
}) {
  const [name, setName] = useState("");
  const [expiry, setExpiry] = useState<Expiry>("day");
  const [uses, setUses] = useState("1");
  const client = useQueryClient();
  const mint = useMutation({
    mutationFn: async () => {
      const body = {
        expires_in_s: EXPIRIES[expiry],
        ...(name.trim() === "" ? {} : { name: name.trim() }),
        ...(uses === "" ? {} : { max_uses: Number(uses) }),
      };
      const answer = await api.call("post", "/api/orgs/{orgID}/auth-keys", { path: { orgID: orgId }, body });
      return answer.body;
    },
    onSuccess: async (minted) => {
      rememberCommand(minted.install_command);
      onMinted(minted);
      await client.invalidateQueries({ queryKey: ["auth-keys", orgId] });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    mint.mutate();
  };
  return (
    <Section title={attach.ways.key}>
      <Text size="sm">{text.explanation}</Text>
      <form onSubmit={submit}>
        <Stack>
          <details>
            <summary>{text.options}</summary>
            <Box pt="sm" maw={420}>
              <Stack>
                <TextInput
                  label={text.name}
                  placeholder={text.namePlaceholder}
                  maxLength={100}
                  value={name}
                  onChange={(event) => setName(event.currentTarget.value)}
                />
                <NativeSelect
                  label={text.expires}
                  data={(Object.keys(EXPIRIES) as Expiry[]).map((value) => ({
                    value,
                    label: text.expiries[value],
                  }))}
                  value={expiry}
                  onChange={({ currentTarget }) => setExpiry(currentTarget.value as Expiry)}
                />
                <TextInput
                  type="number"
                  label={text.uses}
                  description={text.usesHint}
                  min={1}
                  max={1_000_000}
                  step={1}
                  value={uses}
                  onChange={({ currentTarget }) => setUses(currentTarget.value)}
                />
              </Stack>
            </Box>
          </details>
          {mint.isError && <FailurePanel error={mint.error} />}
          <Group>
            <Button type="submit" loading={mint.isPending}>
              {text.make}
            </Button>
          </Group>
          <OtherHosts />
        </Stack>
      </form>
    </Section>
  );
}
