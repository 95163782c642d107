import { Group, Text } from "@mantine/core";
import { api } from "../../api/client.ts";
import { useMe, useOrgId } from "../../api/session.ts";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { save } from "../../parts/feedback/save-with-undo.ts";
import { backups } from "../../text/backups.ts";
import { formatMoment } from "../../text/format.ts";
import type { Backup } from "./queries.ts";

const text = backups.keep;

/** Whether a backup's removal is announced or it is kept by hand, with the button that keeps it. */
export function KeepSection({ backup }: { backup: Backup }) {
  const orgID = useOrgId();
  const { role } = useMe().user;
  const isKept = backup.kept_at !== undefined;
  const change = (): void => {
    const { kept_at } = backup;
    void save<{ kept_at: string | undefined }>({
      id: backup.id,
      within: [["orgs", orgID, "backups"]],
      before: { kept_at },
      after: { kept_at: isKept ? undefined : new Date().toISOString() },
      call: (fields) => {
        const path = { orgID, backupID: backup.id };
        return fields.kept_at === undefined
          ? api.call("post", "/api/orgs/{orgID}/backups/{backupID}/release", { path })
          : api.call("post", "/api/orgs/{orgID}/backups/{backupID}/keep", { path });
      },
      done: isKept ? text.released : text.kept,
    });
  };
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
          disabledReason={role === "owner" || role === "admin" ? null : text.readOnly}
          onClick={change}
        >
          {isKept ? text.release : text.keep}
        </ReasonedButton>
      </Group>
    </>
  );
}
