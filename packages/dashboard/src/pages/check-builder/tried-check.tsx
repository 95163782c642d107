import { Alert, Code, List, Stack, Text } from "@mantine/core";
import type { ResultOf } from "../../api/ask-agent.ts";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { checkBuilder as text, formatCount } from "../../text/check-builder.ts";
import { visible } from "../../text/visible.ts";

export type Tried = ResultOf<"try_check">["check"];

export const canBeAdded = ({ held, noticed }: Tried): boolean => held && noticed.length > 0;

/** What the agent measured, and what the check made of ruined copies. */
export function TriedCheck({ check }: { check: Tried }) {
  const { held, noticed, not_noticed, not_tried, problem } = check;
  return (
    <Stack gap="sm" role="status">
      <Alert color={canBeAdded(check) ? "teal" : "orange"} variant="light">
        {!held ? text.failed : noticed.length === 0 ? text.cannotFail : text.held}
      </Alert>
      <FactList facts={[[text.value, <Value key="value" check={check} />]]} />
      <Code block style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }} tabIndex={0}>
        {visible(check.query, 2000)}
        {"\n"}
        {visible(check.expect, 500)}
      </Code>
      {problem !== undefined && <Text size="sm">{visible(problem, 500)}</Text>}
      <Ways title={text.noticed} ways={noticed} />
      <Ways title={text.notNoticed} ways={not_noticed} />
      <Ways title={text.notTried} ways={not_tried} />
    </Stack>
  );
}

function Value({ check: { value, backup_id } }: { check: Tried }) {
  return (
    <>
      {value === null ? text.noValue : typeof value === "number" ? formatCount(value) : <Moment at={value} />}{" "}
      <RecordLink id={backup_id}>{backup_id}</RecordLink>
    </>
  );
}

function Ways({ title, ways }: { title: string; ways: readonly string[] }) {
  if (ways.length === 0) return null;
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <List size="sm">
        {ways.map((way) => (
          <List.Item key={way} style={{ overflowWrap: "anywhere" }}>
            {visible(way, 400)}
          </List.Item>
        ))}
      </List>
    </div>
  );
}
