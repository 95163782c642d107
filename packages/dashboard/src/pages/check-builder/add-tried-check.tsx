import { Button, Group, Stack, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { useAskAgent } from "../../api/ask-agent.ts";
import { AskFailure } from "../../parts/ask-failure.tsx";
import { showToast } from "../../parts/toasts.ts";
import { WaitingLine } from "../../parts/waiting-line.tsx";
import { checkBuilder as text } from "../../text/check-builder.ts";

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

interface AddTriedCheckProps {
  agentId: string;
  sourceId: string;
  tried: string;
  proposal: string;
}

/** Gives a check that was tried its name; the agent adds it as it tried it. */
export function AddTriedCheck({ agentId, sourceId, tried, proposal }: AddTriedCheckProps) {
  const [name, setName] = useState(proposal);
  const add = useAskAgent(agentId, "add_check");
  const navigate = useNavigate();
  const isName = NAME.test(name);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!isName) return;
    add.mutate(
      { tried, name },
      {
        onSuccess: () => {
          showToast(text.added(name));
          void navigate({ to: "/sources/$sourceId", params: { sourceId }, search: { tab: "tests" } });
        },
      },
    );
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        <TextInput
          label={text.name}
          description={text.nameHint}
          required
          maxLength={63}
          value={name}
          error={name === "" || isName ? null : text.nameWrong}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Group>
          <Button type="submit" loading={add.isPending}>
            {text.add}
          </Button>
        </Group>
        {add.isPending && <WaitingLine>{text.adding}</WaitingLine>}
        {add.isError && <AskFailure error={add.error} />}
      </Stack>
    </form>
  );
}
