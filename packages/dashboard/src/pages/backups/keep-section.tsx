import { Group, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useMe, useOrgId } from "../../api/session.ts";
import { FailurePanel } from "../../parts/failure-panel.tsx";
import { ReasonedButton } from "../../parts/reasoned-button.tsx";
import { backups } from "../../text/backups.ts";
import { formatMoment } from "../../text/format.ts";
import type { Backup } from "./queries.ts";

const text = backups.keep;

/** Whether a backup's removal is announced or it is kept by hand, with the button that keeps it. */
export function KeepSection({ backup }: { backup: Backup }) {
  const orgID = useOrgId();
  const { role } = useMe().user;
  const client = useQueryClient();
  const isKept = backup.kept_at !== undefined;
  const change = useMutation({
    mutationFn: () => {
      const path = { orgID, backupID: backup.id };
      return isKept
        ? api.call("post", "/api/orgs/{orgID}/backups/{backupID}/release", { path })
        : api.call("post", "/api/orgs/{orgID}/backups/{backupID}/keep", { path });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["orgs", orgID, "backups"] }),
  });
  return (
    <>
      {backup.expires_at !== null && (
        <Text fw={600} role="status">
          {text.announced(formatMoment(new Date(backup.expires_at)))}
        </Text>
      )}
      {backup.kept_at !== undefined && <Text>{text.since(formatMoment(new Date(backup.kept_at)))}</Text>}
      <Group>
        <ReasonedButton
          size="xs"
          variant="default"
          loading={change.isPending}
          disabledReason={role === "owner" || role === "admin" ? null : text.readOnly}
          onClick={() => change.mutate()}
        >
          {isKept ? text.release : text.keep}
        </ReasonedButton>
      </Group>
      {change.isError && <FailurePanel error={change.error} />}
    </>
  );
}
