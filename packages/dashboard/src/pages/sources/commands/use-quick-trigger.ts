import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Schemas } from "@attestore/contract/client";
import { useMayManage, useOrgId } from "../../../api/session.ts";
import { startRun } from "../../../api/start-run.ts";
import { showToast } from "../../../parts/feedback/toasts.ts";
import { sourceText } from "../../../text/sources.ts";
import type { Command } from "../../commands/command-state.ts";

const text = sourceText.trigger;

/** Starting a run of a source from a page that shows many of them. */
export interface QuickTrigger {
  /** Why it cannot be started; null if it can. */
  reason: string | null;
  start: () => void;
  isPending: boolean;
  /** Whether it was started here and the page has not seen it end. */
  isStarted: boolean;
  error: Error | null;
}

export function useQuickTrigger(
  source: Pick<Schemas["SourceOverview"], "id" | "name" | "last_backup_at" | "running">,
  kind: Command["kind"],
): QuickTrigger {
  const orgID = useOrgId();
  const client = useQueryClient();
  const mayManage = useMayManage();
  const trigger = useMutation({
    mutationFn: () => startRun(orgID, source.id, kind),
    // Until the overview has it, a second press would start another one.
    onSuccess: () => {
      showToast(text.requested[kind](source.name));
      return client.invalidateQueries({ queryKey: ["overview", orgID] });
    },
  });
  const isRunning = source.running.includes(kind);
  return {
    reason: !mayManage
      ? text.readOnly
      : isRunning
        ? text.alreadyRunning[kind]
        : kind === "restore_test" && source.last_backup_at === null
          ? text.noBackup
          : null,
    start: () => trigger.mutate(),
    isPending: trigger.isPending,
    isStarted: trigger.isSuccess && isRunning,
    error: trigger.error,
  };
}
