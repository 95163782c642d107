import { Alert, Button, Checkbox, Code, Group, Stack, Text } from "@mantine/core";
import { type ResultOf, useAskAgent } from "../../api/ask-agent.ts";
import { AskFailure } from "../../parts/feedback/ask-failure.tsx";
import { WaitingLine } from "../../parts/feedback/waiting-line.tsx";
import { addSource } from "../../text/add-source.ts";
import { visible } from "../../text/visible.ts";
import type { Chosen } from "./choose-database.tsx";
import { engineName } from "../../text/engines.ts";

const text = addSource.test;

/** A database that the agent could read, by the request that showed it. */
export interface Tested {
  tried: string;
  source: ResultOf<"try_source">["source"];
}

interface TestConnectionProps {
  agentId: string;
  chosen: Chosen;
  tested: Tested | null;
  onTested: (tested: Tested) => void;
  checks: readonly string[];
  onChecks: (ids: string[]) => void;
}

/** Begins a backup and stops it, and shows the checks that the agent proposes. */
export function TestConnection(props: TestConnectionProps) {
  const { agentId, chosen, tested, onTested } = props;
  const attempt = useAskAgent(agentId, "try_source");
  const start = () =>
    attempt.mutate(chosen, { onSuccess: ({ id, result }) => onTested({ tried: id, source: result.source }) });
  return (
    <Stack>
      <Text size="sm">{text.explain}</Text>
      <Group>
        <Button variant="default" loading={attempt.isPending} onClick={start}>
          {text.start}
        </Button>
      </Group>
      {attempt.isPending && <WaitingLine>{text.running}</WaitingLine>}
      {attempt.isError && <AskFailure error={attempt.error} />}
      {tested !== null && (
        <>
          <Alert color="teal" variant="light" role="status">
            {text.works(
              visible(tested.source.version.replace(/^\w+/, engineName), 200),
              tested.source.tables,
            )}
          </Alert>
          <Proposed {...props} source={tested.source} />
        </>
      )}
    </Stack>
  );
}

function Proposed({ source, checks, onChecks }: TestConnectionProps & { source: Tested["source"] }) {
  return (
    <>
      {source.checks.length === 0 ? (
        <Text size="sm">{text.noChecks}</Text>
      ) : (
        <Checkbox.Group label={text.checks} value={[...checks]} onChange={onChecks}>
          <Stack gap="xs" mt="xs">
            {source.checks.map(({ id, query, expect }) => (
              <Checkbox
                key={id}
                value={id}
                label={
                  <>
                    <Text span fw={600}>
                      {id}
                    </Text>{" "}
                    <Code style={{ overflowWrap: "anywhere", whiteSpace: "normal" }}>
                      {visible(query, 2000)} → {visible(expect, 500)}
                    </Code>
                  </>
                }
              />
            ))}
          </Stack>
        </Checkbox.Group>
      )}
      {source.not_proposed.length > 0 && (
        <details>
          <summary>{text.notProposed}</summary>
          {source.not_proposed.map(({ id, why }) => (
            <Text key={id} size="sm" style={{ overflowWrap: "anywhere" }}>
              {visible(id, 700)}: {visible(why, 500)}
            </Text>
          ))}
        </details>
      )}
    </>
  );
}
