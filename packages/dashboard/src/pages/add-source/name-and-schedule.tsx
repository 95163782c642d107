import { NativeSelect } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAskAgent } from "../../api/ask-agent.ts";
import { api } from "../../api/client.ts";
import { useOrgId } from "../../api/session.ts";
import { NameForm, nameFrom } from "../../parts/actions/name-form.tsx";
import { showToast } from "../../parts/feedback/toasts.ts";
import { addSource } from "../../text/add-source.ts";

const text = addSource.name;

const SCHEDULES = {
  daily: { backup_cron: "0 2 * * *", restore_test_cron: "0 4 * * 0" },
  hourly: { backup_cron: "0 * * * *", restore_test_cron: "30 3 * * *" },
  none: null,
} as const;
type Schedule = keyof typeof SCHEDULES;

interface NameAndScheduleProps {
  agentId: string;
  tried: string;
  database: string;
  checks: readonly string[];
}

/** The agent writes the source into config.yaml; then the service gets its schedule. */
export function NameAndSchedule({ agentId, tried, database, checks }: NameAndScheduleProps) {
  const orgID = useOrgId();
  const [schedule, setSchedule] = useState<Schedule>("daily");
  const add = useAskAgent(agentId, "add_source");
  const client = useQueryClient();
  const navigate = useNavigate();
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;

  const finish = async (name: string, sourceID: string | undefined): Promise<void> => {
    const times = SCHEDULES[schedule];
    let isUnscheduled = false;
    if (sourceID !== undefined && times !== null) {
      const path = { orgID, sourceID };
      const body = { schedule: { ...times, timezone } };
      await api
        .call("post", "/api/orgs/{orgID}/sources/{sourceID}/configure", { path, body })
        .catch(() => (isUnscheduled = true));
    }
    const told = isUnscheduled ? text.unscheduled : sourceID === undefined ? text.waits : text.added;
    showToast(told(name), { isFailure: isUnscheduled });
    void client.invalidateQueries({ queryKey: ["orgs", orgID] });
    void client.invalidateQueries({ queryKey: ["overview", orgID] });
    if (window.location.pathname !== "/sources/add") return;
    if (sourceID === undefined) await navigate({ to: "/sources" });
    else await navigate({ to: "/sources/$sourceId", params: { sourceId: sourceID } });
  };
  return (
    <NameForm
      label={text.label}
      proposal={proposalFrom(database)}
      action={text.add}
      request={add}
      onName={(name) => {
        // Also if the page is left meanwhile.
        void add.mutateAsync({ tried, name, checks: [...checks] }).then(
          ({ result }) => finish(name, result.source_id),
          () => undefined,
        );
      }}
    >
      <NativeSelect
        label={text.schedule}
        description={text.zone(timezone)}
        value={schedule}
        data={(Object.keys(SCHEDULES) as Schedule[]).map((value) => ({
          value,
          label: text.schedules[value],
        }))}
        onChange={({ currentTarget }) =>
          setSchedule(currentTarget.value in SCHEDULES ? (currentTarget.value as Schedule) : "none")
        }
      />
    </NameForm>
  );
}

/** Of a path, its last part. */
function proposalFrom(database: string): string {
  if (database === ".") return "files";
  return nameFrom(database.replace(/^.*\//, "").replace(/\.(db|sqlite3?)$/, ""));
}
