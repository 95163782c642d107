import { Button, Group, Stack, Text } from "@mantine/core";
import type { Schemas } from "@attestore/contract/client";
import { Link } from "@tanstack/react-router";
import { AgentStopped } from "../../parts/facts/agent-stopped.tsx";
import { Age } from "../../parts/marks/age.tsx";
import { EngineMark } from "../../parts/marks/engine-mark.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { CONCERNS, type Concern, home, type Source } from "../../text/home.ts";
import { useQuickTrigger } from "../sources/commands/use-quick-trigger.ts";
import { WhyFailed } from "../sources/why-failed.tsx";
import classes from "./home-page.module.css";

const text = home.worst;

/** Troubles that a new backup can end, and a restore test cannot. */
const FOR_BACKUP: readonly Concern[] = [
  "backup_failed",
  "backup_missed",
  "attestation_failed",
  "rpo_exceeded",
];
/** Why something else may be wrong. */
const CAUSES: readonly Concern[] = ["agent_silent", "agent_revoked"];

interface WorstIncidentProps {
  source: Source;
  /** How many other sources are not proven either. */
  others: number;
  /** Its agent, if that does not run. */
  stopped: Schemas["AgentOverview"] | undefined;
}

/** The source in the worst state: what is wrong, why, since when, and what to do. */
export function WorstIncident({ source, others, stopped }: WorstIncidentProps) {
  const { id, name, state, concerns, engine } = source;
  const [first] = concerns;
  const kind = first !== undefined && FOR_BACKUP.includes(first) ? "backup" : "restore_test";
  const again = useQuickTrigger(source, kind);
  const words = concerns.filter((concern) => concern === first || CAUSES.includes(concern));
  return (
    <Section title={text.heading}>
      <div className={classes["worst"]} data-state={state}>
        <Stack gap={6} miw={0}>
          <Group gap="xs" wrap="nowrap">
            <StatusMark status={state} />
            <EngineMark engine={engine} />
            <Text fw={600} style={{ overflowWrap: "anywhere" }}>
              {words.length === 0 ? name : `${name}: ${words.map((concern) => CONCERNS[concern]).join("; ")}`}
            </Text>
          </Group>
          <WhyFailed sourceId={id} concern={first} />
          <Since source={source} />
          {others > 0 && (
            <Text size="sm" c="dimmed">
              {text.others(others)}
            </Text>
          )}
        </Stack>
        <Group gap="xs">
          <Button
            renderRoot={(props) => <Link to="/sources/$sourceId" params={{ sourceId: id }} {...props} />}
          >
            {text.open}
          </Button>
          <ReasonedButton
            variant="default"
            leftSection={<Icon name="repeat" size={16} />}
            disabledReason={again.reason}
            loading={again.isPending}
            onClick={again.start}
          >
            {text.again[kind]}
          </ReasonedButton>
        </Group>
      </div>
      {stopped !== undefined && <AgentStopped name={stopped.name} />}
      <div role="status">{again.isStarted && <Text size="sm">{text.started[kind]}</Text>}</div>
      {again.error !== null && <FailurePanel error={again.error} />}
    </Section>
  );
}

function Since({ source: { state, failed_at, last_proven_at } }: { source: Source }) {
  return (
    <Text size="sm" c="dimmed">
      {state === "failed" && failed_at !== null && (
        <>
          {text.since} <Age at={failed_at} />
          {" · "}
        </>
      )}
      {last_proven_at === null ? (
        text.neverProven
      ) : (
        <>
          {text.lastProven} <Age at={last_proven_at} />
        </>
      )}
    </Text>
  );
}
