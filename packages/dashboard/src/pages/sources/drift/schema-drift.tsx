import { Button, Code, Group, Stack, Text } from "@mantine/core";
import { useDisclosure, useId } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { QueryResult } from "../../../parts/feedback/query-result.tsx";
import { sourceText } from "../../../text/sources.ts";
import { backupQuery, type Drift } from "../queries.ts";
import { diffSchemas } from "./schema-diff.ts";
import { SchemaDiffView } from "./schema-diff-view.tsx";

const text = sourceText.drift;

/** A schema change: how much changed, and on request the whole diff. */
export function SchemaDrift({ drift }: { drift: Drift }) {
  const [opened, { toggle }] = useDisclosure(false);
  const id = useId();
  const { changes, previous_backup_id } = drift;
  return (
    <Stack gap="xs">
      <Group gap="sm">
        <Text size="sm" fw={600}>
          {text.fields["schema_hash"]}
        </Text>
        {changes !== undefined && (
          <Text size="sm">
            {text.counts(changes.added.length, changes.removed.length, changes.altered.length)}
          </Text>
        )}
        {changes !== undefined && previous_backup_id !== undefined && (
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={opened}
            aria-controls={id}
            onClick={toggle}
          >
            {opened ? text.hide : text.show}
          </Button>
        )}
      </Group>
      {changes === undefined && (
        <>
          <Text size="sm" c="dimmed">
            {text.noSummary}
          </Text>
          <Code style={{ overflowWrap: "anywhere" }}>
            {String(drift.before)} → {String(drift.after)}
          </Code>
        </>
      )}
      <div id={id} hidden={!opened}>
        {opened && previous_backup_id !== undefined && (
          <Difference before={previous_backup_id} after={drift.backup_id} />
        )}
      </div>
    </Stack>
  );
}

function Difference({ before, after }: { before: string; after: string }) {
  const old = useQuery(backupQuery(before));
  const now = useQuery(backupQuery(after));
  return (
    <QueryResult query={old}>
      {(was) => (
        <QueryResult query={now}>
          {(is) => {
            const diff = diffSchemas(
              was.source_metadata["schema_summary"],
              is.source_metadata["schema_summary"],
            );
            return diff === null ? <Text size="sm">{text.noSummary}</Text> : <SchemaDiffView diff={diff} />;
          }}
        </QueryResult>
      )}
    </QueryResult>
  );
}
