import { Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMayManage, useOrgId } from "../../../api/session.ts";
import { startRun } from "../../../api/start-run.ts";
import { useNow } from "../../../parts/marks/age.tsx";
import { FailurePanel } from "../../../parts/feedback/failure-panel.tsx";
import { ReasonedButton } from "../../../parts/actions/reasoned-button.tsx";
import { sourceText } from "../../../text/sources.ts";
import { recentCommandsQuery, type Source } from "../queries.ts";
import type { Command } from "../../commands/command-state.ts";
import { runnerOf, triggerReason } from "./trigger-reason.ts";
import { useAgents } from "../../../api/use-agents.ts";
import type { FollowedCommands } from "./use-followed-commands.ts";

/** Starts a backup or restore test of the source now. */
export function TriggerButtons({ source, commands }: { source: Source; commands: FollowedCommands }) {
  return (
    <>
      <TriggerButton source={source} commands={commands} kind="backup" />
      <TriggerButton source={source} commands={commands} kind="restore_test" />
    </>
  );
}

function TriggerButton({
  source,
  commands,
  kind,
}: {
  source: Source;
  commands: FollowedCommands;
  kind: Command["kind"];
}) {
  const orgID = useOrgId();
  const client = useQueryClient();
  const mayManage = useMayManage();
  const agent = useAgents().find(runnerOf(source, kind));
  const now = useNow();
  const trigger = useMutation({
    mutationFn: () => startRun(orgID, source.id, kind),
    // Until the new command is loaded, a second press would start another one.
    onSuccess: (commandId) => {
      commands.follow(commandId);
      return client.invalidateQueries(recentCommandsQuery(orgID, source.id));
    },
  });
  return (
    <Stack gap={4} align="flex-start">
      <ReasonedButton
        variant={kind === "backup" ? "default" : "filled"}
        loading={trigger.isPending}
        disabledReason={triggerReason(kind, { mayManage, source, agent, commands: commands.recent, now })}
        onClick={() => trigger.mutate()}
      >
        {sourceText.trigger[kind]}
      </ReasonedButton>
      {trigger.isError && <FailurePanel error={trigger.error} />}
    </Stack>
  );
}
