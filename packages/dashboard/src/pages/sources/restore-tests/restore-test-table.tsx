import { Group } from "@mantine/core";
import { Age } from "../../../parts/marks/age.tsx";
import { RecordLink } from "../../../parts/records/record-link.tsx";
import { type Column, RecordTable } from "../../../parts/records/record-table.tsx";
import { StatusMark } from "../../../parts/marks/status-mark.tsx";
import { formatMilliseconds } from "../../../text/format.ts";
import { sourceText } from "../../../text/sources.ts";
import type { RestoreTest } from "../queries.ts";
import { dataBack_ms, type Phases } from "./restore-phases.ts";

const text = sourceText.tests;

/** Of a test; of one of its checks with the words of checks, as receipts have them. */
export function TestResult({
  result,
  words = text.results,
}: {
  result: RestoreTest["result"];
  words?: Readonly<Record<RestoreTest["result"], string>>;
}) {
  return (
    <Group gap={6} wrap="nowrap" display="inline-flex" style={{ whiteSpace: "nowrap" }}>
      <StatusMark status={result === "passed" ? "proven" : "failed"} size={14} label="" />
      {words[result]}
    </Group>
  );
}

/** Each test with its phases' durations, and whether the data was back in time. */
export function RestoreTestTable({ tests, rto_s }: { tests: readonly RestoreTest[]; rto_s: number | null }) {
  const phase = (header: string, name: keyof Phases): Column<RestoreTest> => ({
    header,
    numeric: true,
    cell: ({ phases }) => (phases === undefined ? "–" : formatMilliseconds(phases[name])),
  });
  const columns: Column<RestoreTest>[] = [
    {
      header: text.columns.when,
      cell: ({ receipt_id, finished_at }) => (
        <RecordLink id={receipt_id}>
          <Age at={finished_at} />
        </RecordLink>
      ),
    },
    { header: text.columns.result, cell: ({ result }) => <TestResult result={result} /> },
    phase(text.columns.download, "download_ms"),
    phase(text.columns.decrypt, "decrypt_ms"),
    phase(text.columns.restore, "restore_ms"),
    {
      header: text.columns.total,
      numeric: true,
      cell: ({ phases }) =>
        phases === undefined ? text.notMeasured : formatMilliseconds(dataBack_ms(phases)),
    },
    ...(rto_s === null
      ? []
      : [
          {
            header: text.columns.objective,
            numeric: true,
            cell: ({ phases }: RestoreTest) =>
              phases === undefined ? "–" : againstRto(dataBack_ms(phases) - rto_s * 1000),
          },
        ]),
    phase(text.columns.checks, "checks_ms"),
  ];
  return (
    <RecordTable
      caption={text.caption}
      columns={columns}
      rows={tests}
      rowKey={({ receipt_id }) => receipt_id}
    />
  );
}

/** `within`, or by how much over. */
export function againstRto(over_ms: number): string {
  return over_ms <= 0 ? text.within : text.over(formatMilliseconds(over_ms));
}
