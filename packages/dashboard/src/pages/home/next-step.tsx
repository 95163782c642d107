import { Button, Group, Text } from "@mantine/core";
import type { Schemas } from "@attestore/contract/client";
import { Link } from "@tanstack/react-router";
import { useAgentProgram, useRunCommand } from "../../api/served-for-hosts.ts";
import { useMayManage } from "../../api/session.ts";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { home } from "../../text/home.ts";

type Step = Schemas["NextStep"];

/** The most useful next step, for owners and admins. */
export function NextStep({ overview }: { overview: Schemas["Overview"] }) {
  // What failed stands above, with what to do.
  const step = overview.next_steps.find(({ kind }) => kind !== "look_into_failure");
  const mayManage = useMayManage();
  const program = useAgentProgram();
  const run = useRunCommand();
  if (!mayManage || step === undefined) return null;
  const { what, why, action } = home.steps[step.kind];
  const about =
    overview.sources.find(({ id }) => id === step.source_id) ??
    overview.agents.find(({ id }) => id === step.agent_id);
  const words = COMMANDS[step.kind];
  const command = step.kind === "run_agent" ? run : words && `${program} ${words}`;
  return (
    <Section title={home.steps.heading}>
      <Group justify="space-between" gap="sm">
        <div style={{ flex: "1 1 18rem" }}>
          <Text fw={600}>{about === undefined ? what : `${what}: ${about.name}`}</Text>
          <Text size="sm">{why}</Text>
        </div>
        <Button size="sm" renderRoot={(props) => <Link to={pathOf(step)} {...props} />}>
          {action}
        </Button>
      </Group>
      {command !== undefined && <CommandText text={command} label={home.commands.label} />}
    </Section>
  );
}

const COMMANDS: Partial<Record<Step["kind"], string>> = home.commands;

function pathOf({ kind, source_id, agent_id }: Step): string {
  if (source_id !== undefined) return `/sources/${source_id}`;
  if (agent_id !== undefined) return `/agents/${agent_id}`;
  return kind === "attach_agent" ? "/attach" : "/sources/add";
}
