import { Button, Code, Group, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/age.tsx";
import { EngineMark } from "../../parts/engine-mark.tsx";
import { FactList } from "../../parts/fact-list.tsx";
import { FailurePanel } from "../../parts/failure-panel.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ReasonedButton } from "../../parts/reasoned-button.tsx";
import { Section } from "../../parts/section.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { CONCERNS, home, type Source } from "../../text/home.ts";
import { visible } from "../../text/visible.ts";
import { failedFirst } from "../../verification/failed-first.ts";
import { restoreTestsQuery } from "../sources/queries.ts";
import { useQuickTrigger } from "../sources/commands/use-quick-trigger.ts";
import classes from "./home-page.module.css";

const text = home.worst;

/** The source in the worst state: what is wrong, since when, and what to do. */
export function WorstIncident({ source, others }: { source: Source; others: number }) {
  const { id, name, state, concerns, engine } = source;
  const test = useQuickTrigger(source, "restore_test");
  const [first] = concerns;
  return (
    <Section title={text.heading}>
      <div className={classes["worst"]} data-state={state}>
        <Stack gap={6} miw={0}>
          <Group gap="xs" wrap="nowrap">
            <StatusMark status={state} />
            <EngineMark engine={engine} />
            <Text fw={600} style={{ overflowWrap: "anywhere" }}>
              {first === undefined ? name : `${name}: ${CONCERNS[first]}`}
            </Text>
          </Group>
          {first === "restore_test_failed" && <FailedCheck sourceId={id} />}
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
            disabledReason={test.reason}
            loading={test.isPending}
            onClick={test.start}
          >
            {text.again}
          </ReasonedButton>
        </Group>
      </div>
      <div role="status">{test.isStarted && <Text size="sm">{text.started}</Text>}</div>
      {test.error !== null && <FailurePanel error={test.error} />}
    </Section>
  );
}

/** The check that did not hold in the last test. */
function FailedCheck({ sourceId }: { sourceId: string }) {
  const { data } = useInfiniteQuery(restoreTestsQuery(useOrgId(), sourceId));
  const test = data?.pages[0]?.items[0];
  if (test?.result !== "failed") return null;
  const [check] = failedFirst(test.checks);
  if (check === undefined || check.result !== "failed")
    return test.reason === undefined ? null : <Text size="sm">{visible(test.reason, 300)}</Text>;
  // Some checks say in words why they did not hold.
  const { error: why, ...values } = check.observed;
  const saw = Object.entries(values).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  return (
    <FactList
      facts={[
        [text.check, visible(check.id, 100)],
        [text.expected, <Code key="e">{visible(check.expectation)}</Code>],
        ...(saw.length === 0 ? [] : ([[text.saw, <Code key="s">{visible(saw.join(", "))}</Code>]] as const)),
        ...(typeof why === "string" ? ([[text.why, visible(why, 500)]] as const) : []),
      ]}
    />
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
