import { VisuallyHidden } from "@mantine/core";
import { Component, createRef, type ReactNode } from "react";
import { strings } from "../../text/strings.ts";
import classes from "./steady-rows.module.css";

interface SteadyRowsProps {
  /** The list that the rows are of: with another one, nothing needs to stay in place. */
  of: string;
  /** Holds elements with `data-row`, a key that no two of them share. */
  children: ReactNode;
}

/** Where a row is on the screen before an update. */
interface Anchor {
  row: HTMLElement;
  top: number;
  /** Keys of all rows. */
  known: ReadonlySet<string>;
}

/**
 * Keeps the row that somebody reads where it is on the screen while new rows appear above it, marks
 * the new ones for a moment, and tells screen readers how many came. A class, because only
 * `getSnapshotBeforeUpdate` sees the rows before they move.
 */
export class SteadyRows extends Component<SteadyRowsProps, { came: number }> {
  override state = { came: 0 };
  readonly #frame = createRef<HTMLDivElement>();

  override getSnapshotBeforeUpdate({ of }: SteadyRowsProps): Anchor | null {
    const frame = this.#frame.current;
    return frame === null || of !== this.props.of ? null : anchorAmong(rowsIn(frame));
  }

  override componentDidUpdate(_props: unknown, _state: unknown, anchor: Anchor | null): void {
    const frame = this.#frame.current;
    if (frame === null || anchor === null || !anchor.row.isConnected) return;
    const rows = rowsIn(frame);
    // What is loaded below on request is not news.
    const above = rows.slice(0, rows.indexOf(anchor.row));
    const came = above.filter((row) => !anchor.known.has(keyOf(row)));
    if (came.length === 0) return;
    for (const row of came) row.classList.add(classes["came"] ?? "");
    window.scrollBy({ top: anchor.row.getBoundingClientRect().top - anchor.top, behavior: "instant" });
    this.setState({ came: came.length });
  }

  override render(): ReactNode {
    return (
      <div ref={this.#frame} className={classes["frame"]}>
        {this.props.children}
        <VisuallyHidden role="status">
          {this.state.came > 0 && strings.list.came(this.state.came)}
        </VisuallyHidden>
      </div>
    );
  }
}

function rowsIn(frame: HTMLElement): HTMLElement[] {
  return [...frame.querySelectorAll<HTMLElement>("[data-row]")];
}

function keyOf(row: HTMLElement): string {
  return row.dataset["row"] ?? "";
}

/** The row with the focus, or the first that can be seen. */
function anchorAmong(rows: readonly HTMLElement[]): Anchor | null {
  const row =
    rows.find((one) => one.contains(document.activeElement)) ??
    rows.find((one) => one.getBoundingClientRect().top >= HEADER_PX) ??
    rows[0];
  if (row === undefined) return null;
  return { row, top: row.getBoundingClientRect().top, known: new Set(rows.map(keyOf)) };
}

/** The page's fixed header covers this much. */
const HEADER_PX = 56;
