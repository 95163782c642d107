import { openLogCheckpoint, parseVerifierKey } from "@attestore/proof";
import { Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useOrgId } from "../../api/session.ts";
import { Age } from "../../parts/marks/age.tsx";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import { type Column, RecordTable } from "../../parts/records/record-table.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { plural } from "../../text/format.ts";
import { logText } from "../../text/log.ts";
import { visible } from "../../text/visible.ts";
import { type CheckedWitness, checkWitnesses } from "../../verification/check-witness.ts";
import { consistencySource, readWitnesses } from "./queries.ts";
import type { LogWatch } from "./watch-log.ts";

const text = logText.witnesses;

/** Which agents saw which head; each cosignature verified here. */
export function WitnessSection({ watch: { head, keys } }: { watch: LogWatch }) {
  const orgId = useOrgId();
  const witnesses = useQuery({
    queryKey: ["orgs", orgId, "log", "witnesses", head.checkpoint],
    queryFn: async () => {
      const logKey = parseVerifierKey(keys.verifier_key);
      const opened = await openLogCheckpoint(head.checkpoint, logKey);
      return checkWitnesses(await readWitnesses(orgId), logKey, opened, consistencySource(orgId));
    },
    // They are fetched again with the next head.
    refetchInterval: false,
  });
  return (
    <Section title={text.title}>
      <Text size="sm">{text.explanation}</Text>
      <QueryResult query={witnesses}>
        {(checked) =>
          checked.length === 0 ? (
            <Text>{text.none}</Text>
          ) : (
            <RecordTable
              caption={text.title}
              columns={columns(head.tree_size)}
              rows={checked}
              rowKey={({ record }) => record.agent_id}
            />
          )
        }
      </QueryResult>
    </Section>
  );
}

function wordsOf(fault: string | null, isCompared: boolean, isThisHead: boolean): string {
  if (fault !== null) return text.failed(visible(fault));
  if (!isCompared) return text.notCompared;
  return isThisHead ? text.heldAt : text.held;
}

const columns = (size: number): Column<CheckedWitness>[] => [
  {
    header: text.columns.agent,
    cell: ({ record }) => (
      <div>
        <RecordLink id={record.agent_id}>{visible(record.name, 100)}</RecordLink>
        <Text size="xs" c="dimmed" ff="monospace">
          {visible(record.verifier_key, 300)}
        </Text>
      </div>
    ),
  },
  { header: text.columns.saw, cell: ({ record }) => plural(record.tree_size, "leaf", "leaves") },
  {
    header: text.columns.when,
    cell: ({ timestamp_s }) => (
      <Age at={timestamp_s === null ? null : new Date(timestamp_s * 1000).toISOString()} fallback="" />
    ),
  },
  {
    header: text.columns.verified,
    cell: ({ fault, record, isCompared }) => (
      <Group gap={6} wrap="nowrap" data-witness={fault === null ? "held" : "failed"}>
        <StatusMark status={fault === null ? "proven" : "failed"} label="" />
        <span>{wordsOf(fault, isCompared, record.tree_size === size)}</span>
      </Group>
    ),
  },
];
