import { Anchor, Group, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useMe, useOrgId } from "../../api/session.ts";
import { useNow } from "../../parts/marks/age.tsx";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { backups } from "../../text/backups.ts";
import { formatMoment } from "../../text/format.ts";
import type { Backup } from "./queries.ts";
import { type RecoveryStep, recoverySteps } from "./recovery-commands.ts";

const text = backups.download;

/** A signed link to the ciphertext, and every command from there to the data. */
export function DownloadSection({ backup }: { backup: Backup }) {
  const orgID = useOrgId();
  const { role } = useMe().user;
  const now = useNow();
  const ask = useMutation({
    mutationFn: async () =>
      (
        await api.call("post", "/api/orgs/{orgID}/backups/{backupID}/download-url", {
          path: { orgID, backupID: backup.id },
        })
      ).body,
  });
  const link = ask.data;
  const isOver = link !== undefined && new Date(link.expires_at) <= now;
  const url = link === undefined || isOver ? null : link.download_url;
  return (
    <Section title={text.title}>
      <Text size="sm">{text.explanation}</Text>
      <Group>
        <ReasonedButton
          loading={ask.isPending}
          disabledReason={
            role === "reader" ? text.readerReason : backup.status === "expired" ? text.expiredReason : null
          }
          onClick={() => ask.mutate()}
        >
          {link === undefined ? text.ask : text.again}
        </ReasonedButton>
        {url !== null && (
          <Anchor href={url} rel="noreferrer">
            {text.link}
          </Anchor>
        )}
      </Group>
      {ask.isError && <FailurePanel error={ask.error} />}
      {link !== undefined && (
        <Text size="sm" role="status">
          {isOver ? text.over : text.until(formatMoment(new Date(link.expires_at)))}
        </Text>
      )}
      {backup.status === "available" && (
        <ol style={{ paddingInlineStart: "1.25rem", margin: 0 }}>
          {recoverySteps(backup, url).map((step) => (
            <Step key={step.title} step={step} />
          ))}
        </ol>
      )}
      <Text size="sm" c="dimmed">
        {text.guide}
      </Text>
    </Section>
  );
}

function Step({ step: { title, commands, note } }: { step: RecoveryStep }) {
  return (
    <li style={{ marginBottom: "0.75rem" }}>
      <Text fw={600}>{title}</Text>
      {commands !== null && <CommandText label={title} text={commands} />}
      {note !== undefined && (
        <Text size="sm" c="dimmed">
          {note}
        </Text>
      )}
    </li>
  );
}
