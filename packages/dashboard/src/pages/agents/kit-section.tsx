import type { Schemas } from "@attestore/contract/client";
import { Text } from "@mantine/core";
import { useNow } from "../../parts/marks/age.tsx";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { agents as text } from "../../text/agents.ts";
import { kitState } from "./recovery-kit.ts";
import { useKitCommands } from "./use-kit-commands.ts";

const words = text.detail;

/** Whether backups can still be decrypted if the host is lost, and what to do if not. */
export function KitSection({ agent }: { agent: Schemas["AgentRecord"] }) {
  const state = kitState(agent, useNow());
  const kit = agent.encryption?.recovery_kit ?? null;
  return (
    <Section title={words.kit}>
      {kit !== null && (
        <FactList
          facts={[
            [words.kitMade, <Moment key="made" at={kit.made_at} />],
            [
              words.kitTestedAt,
              kit.tested_at === null ? words.never : <Moment key="tested" at={kit.tested_at} />,
            ],
          ]}
        />
      )}
      {state === "unknown" && <Text size="sm">{words.recipientsUnknown}</Text>}
      {state === "tested" && <Text size="sm">{words.kitTested}</Text>}
      {state === "none" && (
        <ToDo what={words.kitNone} commands={["make_recovery_kit", "test_recovery_kit"]} />
      )}
      {state === "untested" && <ToDo what={words.kitUntested} commands={["test_recovery_kit"]} />}
      {state === "old" && <ToDo what={words.kitOld} commands={["test_recovery_kit"]} />}
    </Section>
  );
}

function ToDo({ what, commands }: { what: string; commands: Parameters<typeof useKitCommands>[0] }) {
  return (
    <div>
      <Text size="sm" mb="xs">
        {what}
      </Text>
      <CommandText text={useKitCommands(commands)} label={words.kitCommands} />
    </div>
  );
}
