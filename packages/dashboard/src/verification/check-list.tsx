import { StatusMark, type Status } from "../parts/marks/status-mark.tsx";
import { verify as text } from "../text/verify.ts";
import { visible } from "../text/visible.ts";
import type { CheckedLine } from "./checked-line.ts";
import classes from "./check-list.module.css";

const MARKS: Record<CheckedLine["result"], Status> = {
  held: "proven",
  failed: "failed",
  not_checked: "none",
};

/** One line for each check with its result, told apart by shape and word, not by colour alone. */
export function CheckList({ lines, label = text.checks }: { lines: readonly CheckedLine[]; label?: string }) {
  return (
    <ul className={classes["list"]} aria-label={label}>
      {lines.map(({ id, title, result, detail }) => (
        <li key={id} className={classes["line"]} data-check={id} data-result={result}>
          <span className={classes["mark"]}>
            <StatusMark status={MARKS[result]} label="" />
          </span>
          <div>
            <div>
              <span className={classes["word"]}>{text.result[result]}</span>: {title} <code>{id}</code>
            </div>
            <div className={classes["detail"]}>{visible(detail, 2000)}</div>
          </div>
        </li>
      ))}
    </ul>
  );
}
