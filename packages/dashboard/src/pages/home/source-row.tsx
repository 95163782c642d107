import { Link } from "@tanstack/react-router";
import { memo, type ReactNode } from "react";
import { Age } from "../../parts/marks/age.tsx";
import { EngineMark } from "../../parts/marks/engine-mark.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { formatMilliseconds } from "../../text/format.ts";
import { CONCERNS, describeTrend, home, type Source } from "../../text/home.ts";
import { HoverableDays } from "./day-strip-hover.tsx";
import { RowMenu } from "./row-menu.tsx";
import classes from "./source-table.module.css";

/**
 * One source: its state, two clocks, days and restore time. A page has many rows, so they are plain
 * elements and not library components.
 */
export const SourceRow = memo(function SourceRow({
  source,
  firstDay,
  hasMenu,
}: {
  source: Source;
  firstDay: string;
  hasMenu: boolean;
}) {
  const { id, name, state, engine, days, last_backup_at, last_proven_at, rpo_met, objectives } = source;
  const { columns } = home.sources;
  const rpo_s = objectives?.rpo_s;
  return (
    <tr>
      <th scope="row" data-label={columns.source}>
        <div className={classes["name"]}>
          <StatusMark status={state} />
          <EngineMark engine={engine} />
          <div className={classes["words"]}>
            <Link to={`/sources/${id}` as string}>{name}</Link>
            <Below source={source} />
          </div>
        </div>
      </th>
      <Cell label={columns.backup}>
        <Age at={last_backup_at} fallback={home.clock.never} />
        {rpo_met === false && rpo_s !== undefined && (
          <div className={classes["over"]}>{home.clock.rpoExceeded(rpo_s)}</div>
        )}
      </Cell>
      <Cell label={columns.proof}>
        <Age at={last_proven_at} fallback={home.clock.never} />
      </Cell>
      <Cell label={columns.days(days.length)}>
        <HoverableDays days={days} firstDay={firstDay} />
      </Cell>
      <Cell label={columns.restore}>
        <RestoreTime source={source} />
      </Cell>
      {hasMenu && (
        <td className={classes["actions"]}>
          <RowMenu source={source} />
        </td>
      )}
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

/** What an agent has not finished or, if there is nothing, what is wrong. */
function Below({ source: { concerns, running } }: { source: Source }) {
  const words =
    running.length > 0
      ? running.map((kind) => home.clock.running[kind]).join("; ")
      : concerns.map((concern) => CONCERNS[concern]).join("; ");
  if (words === "") return null;
  return (
    <div className={classes["below"]} title={words}>
      {words}
    </div>
  );
}

/** The last restore's time, as a bar that is full at the RTO. */
function RestoreTime({ source: { restore_times_ms, objectives, rto_met } }: { source: Source }) {
  const last = restore_times_ms.at(-1);
  const rto_s = objectives?.rto_s;
  return (
    <>
      <span className={classes["unseen"]}>{describeTrend(restore_times_ms, formatMilliseconds)}</span>
      <span aria-hidden="true" className={classes["took"]}>
        {last === undefined ? home.clock.unmeasured : formatMilliseconds(last)}
        {rto_s !== undefined && last !== undefined && rto_met !== false && (
          <span className={classes["dimmed"]}> {home.clock.rto(rto_s)}</span>
        )}
      </span>
      {rto_s !== undefined && last !== undefined && (
        <svg className={classes["bar"]} width={96} height={5} viewBox="0 0 96 5" aria-hidden="true">
          <rect width="96" height="5" rx="2.5" fill="var(--surface-2)" />
          <rect
            width={Math.max(3, Math.min(1, last / (rto_s * 1000)) * 96)}
            height="5"
            rx="2.5"
            fill={rto_met === false ? "var(--status-failed)" : "var(--status-backed-up)"}
          />
        </svg>
      )}
      {rto_s !== undefined && rto_met === false && (
        <div className={classes["over"]}>{home.clock.rtoExceeded(rto_s)}</div>
      )}
    </>
  );
}
