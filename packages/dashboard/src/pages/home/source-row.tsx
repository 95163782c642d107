import { Link } from "@tanstack/react-router";
import { memo, type ReactNode } from "react";
import { Age } from "../../parts/age.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
import { formatBytes, formatMilliseconds } from "../../text/format.ts";
import { CONCERNS, describeTrend, home, type Source } from "../../text/home.ts";
import { DayStrip } from "./day-strip.tsx";
import classes from "./source-table.module.css";
import { TrendLine } from "./trend-line.tsx";

/**
 * One source: its state, two clocks, days and trends. A page has many rows, so they are plain
 * elements and not library components.
 */
export const SourceRow = memo(function SourceRow({ source, firstDay }: { source: Source; firstDay: string }) {
  const { id, name, state, concerns, running, days } = source;
  const { columns } = home.sources;
  return (
    <tr>
      <th scope="row" data-label={columns.source}>
        <div className={classes["name"]}>
          <StatusMark status={state} />
          <div>
            <Link to={`/sources/${id}` as string}>{name}</Link>
            {concerns.length > 0 && (
              <div className={classes["dimmed"]}>
                {concerns.map((concern) => CONCERNS[concern]).join("; ")}
              </div>
            )}
            {running.map((kind) => (
              <div key={kind}>{home.clock.running[kind]}</div>
            ))}
          </div>
        </div>
      </th>
      <Cell label={columns.backup}>
        <BackupClock source={source} />
      </Cell>
      <Cell label={columns.proof}>
        <ProofClock source={source} />
      </Cell>
      <Cell label={columns.days(days.length)}>
        <DayStrip days={days} firstDay={firstDay} />
      </Cell>
      <Cell label={columns.restore}>
        <Trend values={source.restore_times_ms} format={formatMilliseconds}>
          <RestoreObjective source={source} />
        </Trend>
      </Cell>
      <Cell label={columns.size}>
        <Trend values={source.sizes} format={formatBytes} />
      </Cell>
    </tr>
  );
});

function Cell({ label, children }: { label: string; children: ReactNode }) {
  return (
    <td data-label={label}>
      <div>{children}</div>
    </td>
  );
}

function BackupClock({
  source: { last_backup_at, objectives, rpo_met, next_backup_at },
}: {
  source: Source;
}) {
  const rpo_s = objectives?.rpo_s;
  return (
    <>
      <Age at={last_backup_at} fallback={home.clock.never} />
      {rpo_s !== undefined &&
        (rpo_met === false ? (
          <Over>{home.clock.rpoExceeded(rpo_s)}</Over>
        ) : (
          <Note>{home.clock.rpo(rpo_s)}</Note>
        ))}
      <Next at={next_backup_at} />
    </>
  );
}

function ProofClock({ source: { last_proven_at, next_restore_test_at } }: { source: Source }) {
  return (
    <>
      <Age at={last_proven_at} fallback={home.clock.never} />
      <Next at={next_restore_test_at} />
    </>
  );
}

function Next({ at }: { at: string | null }) {
  return (
    <Note>
      {at === null ? (
        home.clock.noSchedule
      ) : (
        <>
          {home.clock.next}
          <Age at={at} />
        </>
      )}
    </Note>
  );
}

function RestoreObjective({ source: { objectives, rto_met } }: { source: Source }) {
  const rto_s = objectives?.rto_s;
  if (rto_s === undefined) return null;
  return rto_met === false ? (
    <Over>{home.clock.rtoExceeded(rto_s)}</Over>
  ) : (
    <Note>{home.clock.rto(rto_s)}</Note>
  );
}

function Trend({
  values,
  format,
  children,
}: {
  values: readonly number[];
  format: (value: number) => string;
  children?: ReactNode;
}) {
  const last = values.at(-1);
  return (
    <>
      <div className={classes["trend"]}>
        <span aria-hidden="true">{last === undefined ? home.clock.unmeasured : format(last)}</span>
        <span className={classes["unseen"]}>{describeTrend(values, format)}</span>
        <TrendLine values={values} />
      </div>
      {children}
    </>
  );
}

function Note({ children }: { children: ReactNode }) {
  return <div className={classes["note"]}>{children}</div>;
}

/** A missed objective; the words say so too. */
function Over({ children }: { children: ReactNode }) {
  return <div className={classes["over"]}>{children}</div>;
}
