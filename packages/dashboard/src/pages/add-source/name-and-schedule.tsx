import { Button, Group, NativeSelect, Stack, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { useAskAgent } from "../../api/ask-agent.ts";
import { api } from "../../api/client.ts";
import { useOrgId } from "../../api/session.ts";
import { AskFailure } from "../../parts/ask-failure.tsx";
import { showToast } from "../../parts/toasts.ts";
import { WaitingLine } from "../../parts/waiting-line.tsx";
import { addSource } from "../../text/add-source.ts";

const text = addSource.name;
const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

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
  const [name, setName] = useState(nameFrom(database));
  const [schedule, setSchedule] = useState<Schedule>("daily");
  const add = useAskAgent(agentId, "add_source");
  const client = useQueryClient();
  const navigate = useNavigate();
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const isName = NAME.test(name);

  const finish = async (sourceID: string | undefined): Promise<void> => {
    const times = SCHEDULES[schedule];
    let told: string = sourceID === undefined ? text.waits(name) : text.added(name);
    if (sourceID !== undefined && times !== null) {
      const path = { orgID, sourceID };
      const body = { schedule: { ...times, timezone } };
      await api
        .call("post", "/api/orgs/{orgID}/sources/{sourceID}/configure", { path, body })
        .catch(() => (told = text.unscheduled(name)));
    }
    showToast(told);
    void client.invalidateQueries({ queryKey: ["orgs", orgID] });
    void client.invalidateQueries({ queryKey: ["overview", orgID] });
    if (sourceID === undefined) await navigate({ to: "/sources" });
    else await navigate({ to: "/sources/$sourceId", params: { sourceId: sourceID } });
  };
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (!isName) return;
    add.mutate(
      { tried, name, checks: [...checks] },
      { onSuccess: ({ result }) => void finish(result.source_id) },
    );
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        <TextInput
          label={text.label}
          description={text.hint}
          required
          maxLength={63}
          value={name}
          error={name === "" || isName ? null : text.wrong}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
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
        <Group>
          <Button type="submit" loading={add.isPending}>
            {text.add}
          </Button>
        </Group>
        {add.isPending && <WaitingLine>{text.adding}</WaitingLine>}
        {add.isError && <AskFailure error={add.error} />}
      </Stack>
    </form>
  );
}

function nameFrom(database: string): string {
  return database
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "-")
    .replaceAll(/^[-_]+|-+$/g, "")
    .slice(0, 63);
}
