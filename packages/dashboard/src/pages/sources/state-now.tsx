import { Text } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useRunCommand } from "../../api/served-for-hosts.ts";
import { useOrgId } from "../../api/session.ts";
import { CommandText } from "../../parts/command-text.tsx";
import { RecordLink } from "../../parts/record-link.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { CONCERNS } from "../../text/home.ts";
import { sourceText } from "../../text/sources.ts";
import { overviewQuery } from "../../api/overview.ts";
import { restoreTestsQuery } from "./queries.ts";
import classes from "./state-now.module.css";

/**
 * The source's state and its reasons, the same as on the home page and in the list; empty until
 * loaded.
 */
export function StateNow({ sourceId }: { sourceId: string }) {
  const { data: overview } = useQuery(overviewQuery(useOrgId(), 30));
  const source = overview?.sources.find(({ id }) => id === sourceId);
  if (source === undefined) return null;
  const stopped = overview?.agents.find(({ id, is_running }) => id === source.agent_id && !is_running);
  const { state, concerns } = source;
  const words: Readonly<Record<string, string>> = CONCERNS;
  return (
    <div className={classes["state"]} data-state={state}>
      <div className={classes["word"]}>
        <StatusMark status={state} label="" size={20} />
        {sourceText.states[state]}
      </div>
      {concerns.length > 0 && <Text>{concerns.map((concern) => words[concern] ?? concern).join("; ")}</Text>}
      {concerns.includes("restore_test_failed") && <WhyFailed sourceId={sourceId} />}
      {stopped !== undefined && <AgentStopped name={stopped.name} />}
    </div>
  );
}

/** Why nothing begins that somebody starts here, and what to do. */
function AgentStopped({ name }: { name: string }) {
  const run = useRunCommand();
  return (
    <div>
      <Text>{sourceText.trigger.notRunning(name)}</Text>
      <CommandText text={run} label={sourceText.trigger.runCommand} />
    </div>
  );
}

/** What the last restore test found, with its receipt. */
function WhyFailed({ sourceId }: { sourceId: string }) {
  const { data: tests } = useInfiniteQuery(restoreTestsQuery(useOrgId(), sourceId));
  const last = tests?.pages[0]?.items[0];
  if (last?.reason === undefined || last.result !== "failed") return null;
  return (
    <Text>
      <b>{sourceText.tests.reason}:</b> {last.reason}{" "}
      <RecordLink id={last.receipt_id} inText>
        {sourceText.page.seeReceipt}
      </RecordLink>
    </Text>
  );
}
