import { Stack, Text } from "@mantine/core";
import type { Schemas } from "@attestore/contract/client";
import { useQuery } from "@tanstack/react-query";
import { useMe, useOrgId } from "../../api/session.ts";
import { AgentStopped } from "../../parts/facts/agent-stopped.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { CONCERNS } from "../../text/home.ts";
import { sourceText } from "../../text/sources.ts";
import { overviewQuery } from "../../api/overview.ts";
import { WhatChanged } from "./drift/what-changed.tsx";
import { Incidents } from "./incidents.tsx";
import type { SourceDetail } from "./queries.ts";
import { SourceClocks } from "./source-clocks.tsx";
import { WhyFailed } from "./why-failed.tsx";
import classes from "./status-card.module.css";

type Overview = Schemas["Overview"];

/**
 * Everything about the source at this moment: its state and why, the same as on the home page and
 * in the list, its clocks and what changed. A reader with an auditor link sees the clocks alone.
 */
export function StatusCard({ source }: { source: SourceDetail }) {
  const isReader = useMe().user.role === "reader";
  const { data: overview } = useQuery({ ...overviewQuery(useOrgId(), 30), enabled: !isReader });
  const now = overview?.sources.find(({ id }) => id === source.id);
  const stopped = overview?.agents.find(({ id, is_running }) => id === source.agent_id && !is_running);
  return (
    <section className={classes["card"]} data-state={now?.state} aria-label={sourceText.page.status}>
      {now !== undefined && <StateNow {...now} />}
      {stopped !== undefined && <AgentStopped name={stopped.name} />}
      <Incidents source={source} />
      <SourceClocks source={source} />
      {!isReader && <WhatChanged source={source} />}
    </section>
  );
}

function StateNow({ id, state, concerns }: Overview["sources"][number]) {
  return (
    <Stack gap={6}>
      <div className={classes["word"]}>
        <StatusMark status={state} label="" size={20} />
        {sourceText.states[state]}
      </div>
      {concerns.length > 0 && (
        <Text className={classes["concerns"] ?? ""}>
          {concerns.map((concern) => CONCERNS[concern]).join("; ")}
        </Text>
      )}
      <WhyFailed sourceId={id} concern={concerns[0]} />
    </Stack>
  );
}
