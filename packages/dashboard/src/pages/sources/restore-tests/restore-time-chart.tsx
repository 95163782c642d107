import { Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type KeyboardEvent, type PointerEvent, useState } from "react";
import { formatMilliseconds, formatTime } from "../../../text/format.ts";
import { sourceText } from "../../../text/sources.ts";
import type { RestoreTest } from "../queries.ts";
import { exactDuration } from "../typed-duration.ts";
import { durationTicks, nearestIndex, placeMarks, timeTicks } from "./chart-scale.ts";
import { ChosenTest } from "./chosen-test.tsx";
import classes from "./restore-time-chart.module.css";
import { chartTop_ms, dataBack_ms, type MeasuredTest } from "./restore-phases.ts";

const text = sourceText.tests.chart;
const HEIGHT = 220;
const AREA = { left: 68, right: 14, top: 12, bottom: 26 };
/** The axis of time is at least this long, so that it has marks. */
const SPAN_MS = 600_000;
/** About as many pixels as a mark's text takes, with some space. */
const MARK_PX = 90;

/**
 * How long it took until the data was back, test by test, against the objective. The pointer or the
 * arrow keys choose a test, of which the chart says all; the table below has the same numbers.
 */
export function RestoreTimeChart({ tests, rto_s }: { tests: readonly RestoreTest[]; rto_s: number | null }) {
  const measured = tests
    .flatMap((test) => (test.phases === undefined ? [] : [{ ...test, phases: test.phases }]))
    .toSorted((a, b) => a.finished_at.localeCompare(b.finished_at));
  const [chosenId, choose] = useState<string | null>(null);
  const { ref, width } = useElementSize();
  const newest = measured.at(-1);
  if (newest === undefined) return null;
  const chosen = measured.find(({ receipt_id }) => receipt_id === chosenId) ?? newest;
  const at = measured.indexOf(chosen);
  const scale = scaleOf(measured, rto_s, width);
  const onPointer = ({ clientX, currentTarget }: PointerEvent): void => {
    const x = clientX - currentTarget.getBoundingClientRect().left;
    choose(measured[nearestIndex(measured.map(scale.x), x)]?.receipt_id ?? null);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: measured.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    choose(measured[Math.max(0, Math.min(measured.length - 1, next))]?.receipt_id ?? null);
  };
  const limit_ms = rto_s === null ? null : rto_s * 1000;
  return (
    <figure className={classes["figure"]}>
      <figcaption>
        <Text fw={600} component="h3">
          {text.heading}
        </Text>
        {tests.length > measured.length && (
          <Text size="sm">{text.unmeasured(tests.length - measured.length)}</Text>
        )}
        {rto_s !== null && rto_s * 1000 > scale.top_ms && (
          <Text size="sm">{text.above(exactDuration(rto_s))}</Text>
        )}
      </figcaption>
      <div
        ref={ref}
        className={classes["plot"]}
        role="slider"
        tabIndex={0}
        aria-label={text.choose}
        aria-valuemin={1}
        aria-valuemax={measured.length}
        aria-valuenow={at + 1}
        aria-valuetext={text.value(
          formatTime(new Date(chosen.finished_at)),
          sourceText.tests.results[chosen.result],
          formatMilliseconds(dataBack_ms(chosen.phases)),
        )}
        onPointerMove={onPointer}
        onPointerDown={onPointer}
        onKeyDown={onKeyDown}
      >
        <svg width={width} height={HEIGHT} aria-hidden="true">
          <Axes scale={scale} width={width} />
          <polyline className={classes["line"]} points={scale.line} />
          {limit_ms !== null && limit_ms <= scale.top_ms && (
            <g className={classes["limit"]}>
              <line x1={AREA.left} x2={width - AREA.right} y1={scale.y(limit_ms)} y2={scale.y(limit_ms)} />
              <text x={AREA.left + 4} y={scale.y(limit_ms) - 5}>
                {text.line(exactDuration(limit_ms / 1000))}
              </text>
            </g>
          )}
          <line
            className={classes["chosen"]}
            x1={scale.x(chosen)}
            x2={scale.x(chosen)}
            y1={AREA.top}
            y2={HEIGHT - AREA.bottom}
          />
          {measured.map((test) => (
            <Point
              key={test.receipt_id}
              x={scale.x(test)}
              y={scale.y(dataBack_ms(test.phases))}
              hasPassed={test.result === "passed"}
              isChosen={test === chosen}
            />
          ))}
        </svg>
      </div>
      <ChosenTest test={chosen} rto_s={rto_s} />
    </figure>
  );
}

type Scale = ReturnType<typeof scaleOf>;

function scaleOf(measured: readonly MeasuredTest[], rto_s: number | null, width: number) {
  const times = measured.map(({ finished_at }) => Date.parse(finished_at));
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const spare = Math.max(0, (SPAN_MS - (last - first)) / 2);
  const [from, to] = [first - spare, last + spare];
  const ticks = durationTicks(chartTop_ms(measured, rto_s));
  const top_ms = ticks.at(-1) ?? 1;
  const room = { x: width - AREA.left - AREA.right, y: HEIGHT - AREA.top - AREA.bottom };
  const across = (time: number): number => AREA.left + ((time - from) / (to - from)) * room.x;
  const x = ({ finished_at }: MeasuredTest): number => across(Date.parse(finished_at));
  const y = (ms: number): number => HEIGHT - AREA.bottom - (ms / top_ms) * room.y;
  return {
    x,
    y,
    across,
    ticks,
    top_ms,
    times: timeTicks(from, to, Math.max(1, Math.floor(room.x / MARK_PX))),
    /** Through what passed: a test that failed may have stopped early. */
    line: measured
      .filter(({ result }) => result === "passed")
      .map((test) => `${x(test)},${y(dataBack_ms(test.phases))}`)
      .join(" "),
  };
}

function Axes({ scale, width }: { scale: Scale; width: number }) {
  const { areDays, areYears } = scale.times;
  const format = new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    ...(areYears ? { year: "numeric" } : areDays ? {} : { hour: "2-digit", minute: "2-digit" }),
  });
  return (
    <g className={classes["axes"]}>
      {scale.ticks.map((ms) => (
        <g key={ms}>
          <line x1={AREA.left} x2={width - AREA.right} y1={scale.y(ms)} y2={scale.y(ms)} />
          <text x={AREA.left - 8} y={scale.y(ms)} dy="0.32em" textAnchor="end">
            {ms === 0 ? "0" : formatMilliseconds(ms).replace(".0 ", " ")}
          </text>
        </g>
      ))}
      {placeMarks(scale.times.at.map(scale.across), width, MARK_PX).map(({ index, anchor }) => {
        const time = scale.times.at[index] ?? 0;
        return (
          <text key={time} x={scale.across(time)} y={HEIGHT - 8} textAnchor={anchor}>
            {format.format(time)}
          </text>
        );
      })}
    </g>
  );
}

/** A circle for a test that passed, a cross for one that failed. */
function Point(props: { x: number; y: number; hasPassed: boolean; isChosen: boolean }) {
  const { x, y, hasPassed, isChosen } = props;
  const r = isChosen ? 6 : 4;
  return hasPassed ? (
    <circle className={classes["passed"]} cx={x} cy={y} r={r} />
  ) : (
    <path
      className={classes["failed"]}
      d={`M${x - r} ${y - r}L${x + r} ${y + r}M${x + r} ${y - r}L${x - r} ${y + r}`}
    />
  );
}
