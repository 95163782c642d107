import { Code, Group, Paper, Stack, Text } from "@mantine/core";
import { Age } from "../../../parts/marks/age.tsx";
import { RecordLink } from "../../../parts/records/record-link.tsx";
import { RecordTable } from "../../../parts/records/record-table.tsx";
import { formatMilliseconds } from "../../../text/format.ts";
import { sourceText } from "../../../text/sources.ts";
import { visible } from "../../../text/visible.ts";
import { ControlNotes } from "../../../verification/control-notes.tsx";
import { failedFirst } from "../../../verification/failed-first.ts";
import type { RestoreTest } from "../queries.ts";
import { checkChanges } from "./restore-phases.ts";
import { TestResult } from "./restore-test-table.tsx";
import { engineName } from "../../../text/engines.ts";

const text = sourceText.tests;
type Check = RestoreTest["checks"][number];

/** The last test's checks, with expected and observed values. */
export function LastChecks({ test, before }: { test: RestoreTest; before: RestoreTest | undefined }) {
  const { changed, added, gone } = checkChanges(test, before);
  const noteOf = ({ id }: Check): string | null =>
    changed.has(id) ? text.changed : added.has(id) ? text.added : null;
  const { engine, engine_version, kind } = test.runtime;
  return (
    <Paper withBorder p="md" component="section" aria-label={text.last}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Text fw={600} component="h3">
            {text.last}
          </Text>
          <Group gap="sm">
            <TestResult result={test.result} />
            <RecordLink id={test.receipt_id}>
              <Age at={test.finished_at} />
            </RecordLink>
          </Group>
        </Group>
        {test.reason !== undefined && (
          <Text>
            <b>{text.reason}:</b> {visible(test.reason, 1000)}
          </Text>
        )}
        <Text size="sm" c="dimmed">
          {text.runtime(engineName(engine), engine_version, kind)}
        </Text>
        {test.checks.length === 0 ? (
          <Text>{text.noChecks}</Text>
        ) : (
          <RecordTable
            caption={text.lastCaption}
            rows={failedFirst(test.checks)}
            rowKey={({ id }) => id}
            columns={[
              {
                header: text.checkColumns.id,
                cell: (check) => (
                  <div>
                    <Text size="sm" fw={600}>
                      {visible(check.id, 100)}
                    </Text>
                    {noteOf(check) !== null && <Text size="xs">{noteOf(check)}</Text>}
                    <ControlNotes control={check.negative_control} />
                  </div>
                ),
              },
              {
                header: text.checkColumns.expectation,
                cell: ({ expectation }) => <Code>{visible(expectation)}</Code>,
              },
              {
                header: text.checkColumns.observed,
                cell: ({ observed }) => <Code>{observedText(observed)}</Code>,
              },
              {
                header: text.checkColumns.result,
                cell: ({ result }) => <TestResult result={result} words={text.checkOutcomes} />,
              },
              {
                header: text.checkColumns.took,
                numeric: true,
                cell: ({ duration_ms }) => formatMilliseconds(duration_ms),
              },
            ]}
          />
        )}
        {gone.length > 0 && <Text size="sm">{text.gone(gone.join(", "))}</Text>}
      </Stack>
    </Paper>
  );
}

/** `n = 1234, newest = "…"` */
function observedText(observed: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(observed).map(([name, value]) =>
    visible(`${name} = ${JSON.stringify(value)}`),
  );
  return shown.length === 0 ? "–" : shown.join(", ");
}
