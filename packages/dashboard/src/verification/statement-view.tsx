import {
  type CheckOutcome,
  comparedContentText,
  suspicionText,
  emptyTables,
  fewerObjects,
  namedNotCounted,
  notLookedAt,
  type NamedTables,
  type RestoreTestPredicate,
  type RestoreTestStatement,
  type Statement,
} from "@attestore/proof";
import { Code, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { FactList } from "../parts/facts/fact-list.tsx";
import { Moment } from "../parts/marks/moment.tsx";
import { type Column, RecordTable } from "../parts/records/record-table.tsx";
import { Section } from "../parts/layout/section.tsx";
import { StatusMark } from "../parts/marks/status-mark.tsx";
import { formatBytes, formatDuration, formatMilliseconds } from "../text/format.ts";
import { receipts } from "../text/receipts.ts";
import { visible } from "../text/visible.ts";
import { ControlNotes } from "./control-notes.tsx";
import { failedFirst } from "./failed-first.ts";
import { engineName } from "../text/engines.ts";

const text = receipts.page;

/** A receipt in two words. */
export function whatItIs(statement: Statement): string {
  return receipts.what[outcomeOf(statement)];
}

export function outcomeOf(statement: Statement): keyof typeof receipts.what {
  return isRestoreTest(statement) ? statement.predicate.result : "backup";
}

export type IdView = (id: string) => ReactNode;

/** What a statement says, in plain words: what was done, how long it took, and each check. */
export function StatementView({
  statement,
  id = (plain) => <Code>{plain}</Code>,
}: {
  statement: Statement;
  /** Renders an id: as a link if its record has a page. */
  id?: IdView;
}) {
  const { main, technical } = factsOf(statement, id);
  return (
    <>
      <Section title={text.says}>
        <Text>{sentenceOf(statement)}</Text>
        <FactList facts={[...main, ...technical]} />
      </Section>
      <StatementChecks statement={statement} />
    </>
  );
}

/** Each check of a restore test, and where its time went; nothing for a backup. */
export function StatementChecks({ statement }: { statement: Statement }) {
  return isRestoreTest(statement) ? <RestoreTest predicate={statement.predicate} /> : null;
}

function isRestoreTest(statement: Statement): statement is RestoreTestStatement {
  return "result" in statement.predicate;
}

/** What was done, in one sentence. */
export function sentenceOf(statement: Statement): string {
  if (!isRestoreTest(statement)) {
    const { source_metadata, size_bytes } = statement.predicate;
    return text.backedUp(
      visible(`${engineName(source_metadata.engine)} ${source_metadata.engine_version}`, 100),
      formatBytes(size_bytes),
    );
  }
  const { result, checks } = statement.predicate;
  const where = runtimeOf(statement.predicate);
  if (result === "passed") return text.passed(where, text.checksHeld(checks.length));
  const failed = checks.filter((check) => check.result === "failed").length;
  return text.failed(where, text.checksFailed(failed, checks.length));
}

function runtimeOf({ runtime }: RestoreTestPredicate): string {
  const engine = visible(`${engineName(runtime.engine)} ${runtime.engine_version}`, 100);
  return `${engine}, ${text.runtime[runtime.kind]}`;
}

type Fact = readonly [name: string, value: ReactNode];

/**
 * What a statement says besides: what a reader must not miss, such as what was not looked at, and
 * what only tells for whom and with what.
 */
export function factsOf(statement: Statement, id: IdView): { main: Fact[]; technical: Fact[] } {
  const { predicate, subject } = statement;
  const took = (Date.parse(predicate.finished_at) - Date.parse(predicate.started_at)) / 1000;
  const previous = predicate.previous_receipt_sha256;
  const main: Fact[] = [
    [text.source, id(predicate.source_id)],
    [text.backup, id(predicate.backup_id)],
    [
      text.ran,
      <>
        <Moment at={predicate.started_at} withZone />, {formatDuration(took)}
      </>,
    ],
  ];
  const technical: Fact[] = [[text.agent, id(predicate.agent_id)]];
  if (isRestoreTest(statement)) {
    const { reason, checks } = statement.predicate;
    if (reason !== undefined) main.push([text.reason, visible(reason, 1000)]);
    main.push(
      ...tablesFact(text.notCounted, text.tables, namedNotCounted(checks)),
      ...tablesFact(text.notLookedAt, text.notLookedAtCount, notLookedAt(checks)),
      ...tablesFact(text.empty, text.emptyTables, emptyTables(checks)),
      ...fewerFact(checks),
      ...suspicionFact(statement),
      ...contentFact(statement),
      ...drawFact(statement),
    );
    technical.push([text.runtimeName, runtimeOf(statement.predicate)]);
  } else {
    main.push([text.size, formatBytes(statement.predicate.size_bytes)]);
    const { recipients } = statement.predicate.cipher;
    technical.push([text.recipients, recipients.map((key) => visible(key)).join(", ")]);
  }
  technical.push(
    [text.ciphertext, <Code>{subject[0].digest.sha256}</Code>],
    [text.version, visible(predicate.agent_version, 100)],
    [text.previous, previous === null ? text.first : <Code>{previous}</Code>],
  );
  return { main, technical };
}

function tablesFact(
  title: string,
  say: (count: number) => string,
  { count, names }: NamedTables,
): (readonly [string, string])[] {
  if (count === 0) return [];
  return [[title, names === null ? say(count) : `${say(count)}: ${visible(names, 1000)}`]];
}

/** What the source lost since the backup before. The test passed, because it may be right. */
function fewerFact(checks: readonly CheckOutcome[]): (readonly [string, string])[] {
  const fewer = fewerObjects(checks);
  return fewer === null ? [] : [[text.fewer, visible(text.fewerObjects(fewer), 1000)]];
}

function suspicionFact({ predicate: { profile } }: RestoreTestStatement): (readonly [string, ReactNode])[] {
  const suspicious = profile?.suspicious ?? [];
  if (suspicious.length === 0) return [];
  return [[text.suspicious, visible(suspicious.map(suspicionText).join("; "), 1000)]];
}

/** Shown also where nothing was compared: that a test passed says nothing of it. */
function contentFact({ predicate }: RestoreTestStatement): (readonly [string, ReactNode])[] {
  return [[text.content, comparedContentText(predicate.checks)]];
}

/** What it claims. Whether the draw holds is in the list of checks. */
function drawFact({ predicate: { draw } }: RestoreTestStatement): (readonly [string, ReactNode])[] {
  return draw === undefined ? [] : [[text.draw, text.drawn(draw.leaf.id)]];
}

const PHASES = ["download_ms", "decrypt_ms", "restore_ms", "checks_ms"] as const;

function RestoreTest({ predicate: { phases, checks } }: { predicate: RestoreTestPredicate }) {
  return (
    <>
      <Section title={text.checks}>
        {checks.length === 0 ? (
          <Text>{text.noChecks}</Text>
        ) : (
          <RecordTable
            caption={text.checks}
            columns={CHECK_COLUMNS}
            rows={failedFirst(checks)}
            rowKey={({ id }) => id}
          />
        )}
      </Section>
      {phases !== undefined && (
        <Section title={text.phases}>
          <FactList
            facts={[
              ...PHASES.map((name) => [text.phase[name], formatMilliseconds(phases[name])] as const),
              [text.sum, formatMilliseconds(PHASES.reduce((sum, name) => sum + phases[name], 0))] as const,
            ]}
          />
        </Section>
      )}
    </>
  );
}

const CHECK_COLUMNS: Column<CheckOutcome>[] = [
  {
    header: text.column.result,
    cell: ({ result }) => (
      <Group gap={6} wrap="nowrap" display="inline-flex" style={{ whiteSpace: "nowrap" }}>
        <StatusMark status={result === "passed" ? "proven" : "failed"} label="" />
        {text.outcome[result]}
      </Group>
    ),
  },
  {
    header: text.column.id,
    cell: ({ id, negative_control }) => (
      <>
        {visible(id, 100)}
        <ControlNotes control={negative_control} />
      </>
    ),
  },
  { header: text.column.expectation, cell: ({ expectation }) => <Code>{visible(expectation)}</Code> },
  { header: text.column.observed, cell: ({ observed }) => <Observed values={observed} /> },
  { header: text.column.took, numeric: true, cell: ({ duration_ms }) => formatMilliseconds(duration_ms) },
];

function Observed({ values }: { values: Record<string, unknown> }) {
  return (
    <Stack gap={0} component="span">
      {Object.entries(values).map(([name, value]) => (
        <span key={name}>
          <Code>{visible(`${name} = ${JSON.stringify(value)}`)}</Code>
        </span>
      ))}
    </Stack>
  );
}
