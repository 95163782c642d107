import { Group, Text } from "@mantine/core";
import { Moment } from "../../../parts/marks/moment.tsx";
import { RecordLink } from "../../../parts/records/record-link.tsx";
import { formatMilliseconds } from "../../../text/format.ts";
import { sourceText } from "../../../text/sources.ts";
import classes from "./restore-time-chart.module.css";
import { dataBack_ms, type MeasuredTest, PHASES } from "./restore-phases.ts";
import { againstRto, TestResult } from "./restore-test-table.tsx";

const text = sourceText.tests;

/** The test that is chosen in the chart, and where its time went. */
export function ChosenTest({ test, rto_s }: { test: MeasuredTest; rto_s: number | null }) {
  const { phases, result, receipt_id, finished_at } = test;
  const back_ms = dataBack_ms(phases);
  const all_ms = Math.max(1, back_ms + phases.checks_ms);
  return (
    <div className={classes["told"]}>
      <Group gap="0.25rem 1rem">
        <Text size="sm" component="div">
          <RecordLink id={receipt_id}>
            <Moment at={finished_at} />
          </RecordLink>
        </Text>
        <TestResult result={result} />
        <Text size="sm" fw={600}>
          {text.chart.back(formatMilliseconds(back_ms))}
        </Text>
        {rto_s !== null && <Text size="sm">{text.chart.objective(againstRto(back_ms - rto_s * 1000))}</Text>}
      </Group>
      <div className={classes["track"]} aria-hidden="true">
        {PHASES.map((phase) => (
          <span
            key={phase}
            className={classes["bar"]}
            data-phase={phase}
            style={{ width: `${((phases[`${phase}_ms`] / all_ms) * 100).toFixed(3)}%` }}
          />
        ))}
      </div>
      <ul className={classes["legend"]} aria-label={text.chart.phases}>
        {PHASES.map((phase) => (
          <li key={phase} className={classes["key"]}>
            <span className={classes["swatch"]} data-phase={phase} />
            {text.phases[phase]} {formatMilliseconds(phases[`${phase}_ms`])}
          </li>
        ))}
      </ul>
    </div>
  );
}
