import { type PointerEvent, useEffect, useState } from "react";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { dayName, dayStatus, dayWord, type DayLetter } from "../../text/home.ts";
import { DayStrip } from "./day-strip.tsx";
import classes from "./source-table.module.css";

/**
 * The strip, and a card with the date and result of the day under the pointer. The strip's own
 * description has all of it for those who do not point.
 */
export function HoverableDays({ days, firstDay }: { days: string; firstDay: string }) {
  const [index, setIndex] = useState<number | null>(null);
  const take = (event: PointerEvent<HTMLDivElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at = Math.floor(((event.clientX - left) / width) * days.length);
    setIndex(at >= 0 && at < days.length ? at : null);
  };
  const hide = (): void => setIndex(null);
  return (
    <div className={classes["strip"]} onPointerMove={take} onPointerDown={take} onPointerLeave={hide}>
      <DayStrip days={days} firstDay={firstDay} />
      {index !== null && <DayCard days={days} firstDay={firstDay} index={index} onHide={hide} />}
    </div>
  );
}

function DayCard({
  days,
  firstDay,
  index,
  onHide,
}: {
  days: string;
  firstDay: string;
  index: number;
  onHide: () => void;
}) {
  // What appears on hover can be dismissed without moving the pointer (WCAG 2.2, 1.4.13).
  useEffect(() => {
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === "Escape") onHide();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [onHide]);
  const letter = days[index] as DayLetter;
  const isRight = index >= days.length / 2;
  return (
    <div className={classes["day"]} data-side={isRight ? "right" : "left"} aria-hidden="true">
      <strong>{dayName(firstDay, index)}</strong>
      <span className={classes["dayResult"]}>
        <StatusMark status={dayStatus(letter)} size={12} label="" />
        {dayWord(letter)}
      </span>
    </div>
  );
}
