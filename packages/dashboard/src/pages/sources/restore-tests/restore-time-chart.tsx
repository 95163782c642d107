import { Text } from "@mantine/core";
import { formatAge, formatMilliseconds } from "../../../text/format.ts";
import { sourceText } from "../../../text/sources.ts";
import classes from "./restore-time-chart.module.css";
import type { RestoreTest } from "../queries.ts";
import { exactDuration } from "../typed-duration.ts";
import { chartWidth_ms, dataBack_ms, PHASES } from "./restore-phases.ts";

const text = sourceText.tests;

/** Bars that show how long each phase of a test took; the table has the same numbers. */
export function PhaseChart({ tests, rto_s }: { tests: readonly RestoreTest[]; rto_s: number | null }) {
  const measured = tests.flatMap((test) =>
    test.phases === undefined ? [] : [{ ...test, phases: test.phases }],
  );
  if (measured.length === 0) return null;
  const width = chartWidth_ms(measured, rto_s);
  const share = (ms: number): string => `${((ms / width) * 100).toFixed(3)}%`;
  const limit = rto_s === null ? null : rto_s * 1000;
  const now = new Date();
  return (
    <figure className={classes["figure"]}>
      <figcaption className={classes["legend"]}>
        <Text component="span" fw={600} size="sm">
          {text.chart}
        </Text>
        {PHASES.map((phase) => (
          <span key={phase} className={classes["key"]}>
            <span className={classes["swatch"]} data-phase={phase} />
            {text.phases[phase]}
          </span>
        ))}
        {limit !== null && limit <= width && (
          <span className={classes["key"]}>
            <span className={classes["limitKey"]} />
            {text.chartLine(exactDuration(limit / 1000))}
          </span>
        )}
      </figcaption>
      <div aria-hidden="true">
        {measured.map(({ receipt_id, created_at, phases }) => (
          <div key={receipt_id} className={classes["row"]}>
            <span className={classes["label"]}>{formatAge(new Date(created_at), now)}</span>
            <span className={classes["track"]}>
              {PHASES.map((phase) => (
                <span
                  key={phase}
                  className={classes["bar"]}
                  data-phase={phase}
                  style={{ width: share(phases[`${phase}_ms`]) }}
                />
              ))}
              {limit !== null && limit <= width && (
                <span className={classes["limit"]} style={{ left: share(limit) }} />
              )}
            </span>
            <span className={classes["total"]}>{formatMilliseconds(dataBack_ms(phases))}</span>
          </div>
        ))}
      </div>
    </figure>
  );
}
