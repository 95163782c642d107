import type { Schemas } from "@attestore/contract/client";
import { Text } from "@mantine/core";
import { useNow } from "../../parts/age.tsx";
import { CommandText } from "../../parts/command-text.tsx";
import { FactList } from "../../parts/fact-list.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Section } from "../../parts/section.tsx";
import { agents as text } from "../../text/agents.ts";
import { kitState } from "./recovery-kit.ts";

const words = text.detail;
const MAKE = "attestore keys recovery-kit --output kit.html\nattestore keys recovery-kit --test";
const TEST = "attestore keys recovery-kit --test";

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
      {state === "none" && <ToDo what={words.kitNone} commands={MAKE} />}
      {state === "untested" && <ToDo what={words.kitUntested} commands={TEST} />}
      {state === "old" && <ToDo what={words.kitOld} commands={TEST} />}
    </Section>
  );
}

function ToDo({ what, commands }: { what: string; commands: string }) {
  return (
    <div>
      <Text size="sm" mb="xs">
        {what}
      </Text>
      <CommandText text={commands} label={what} />
    </div>
  );
}
