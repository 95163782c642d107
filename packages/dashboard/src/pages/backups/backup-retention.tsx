import type { Schemas } from "@attestore/contract/client";
import { List, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMe, useOrgId } from "../../api/session.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { backups } from "../../text/backups.ts";
import { KeepSection } from "./keep-section.tsx";
import { type Backup, retentionQuery } from "./queries.ts";

const text = backups.retention;

/** Why a backup is kept, or when it will be removed. */
export function BackupRetention({ backup }: { backup: Backup }) {
  const isReader = useMe().user.role === "reader";
  return (
    <Section title={text.title}>
      {backup.status === "expired" ? (
        <Text>{text.gone}</Text>
      ) : isReader ? (
        <Text>{text.forbidden}</Text>
      ) : (
        <Decision backup={backup} />
      )}
    </Section>
  );
}

function Decision({ backup }: { backup: Backup }) {
  const preview = useQuery(retentionQuery(useOrgId(), backup));
  return (
    <QueryResult query={preview}>
      {(known) => {
        const decision = known?.items[0];
        // The backup may have expired since it was fetched; its record will say so at the next
        // refresh.
        if (known === null || decision === undefined)
          return <Text>{known === null ? text.unknownSource : text.gone}</Text>;
        return (
          <Stack gap="xs">
            {decision.keep ? <Reasons reasons={decision.reasons} /> : <Text>{text.goes}</Text>}
            <KeepSection backup={backup} />
            <Text size="sm" c="dimmed">
              {text.totals(known.keep_count, known.remove_count)}
            </Text>
          </Stack>
        );
      }}
    </QueryResult>
  );
}

function Reasons({ reasons }: { reasons: readonly Schemas["RetentionReason"][] }) {
  return (
    <>
      <Text>{text.kept}</Text>
      <List>
        {reasons.map(({ rule, period }) => (
          <List.Item key={rule}>
            {text.reason[rule]}
            {period !== undefined && text.period(period)}
          </List.Item>
        ))}
      </List>
    </>
  );
}
