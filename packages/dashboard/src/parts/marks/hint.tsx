import { type ReactNode, useRef, useState } from "react";
import classes from "./hint.module.css";

/** Of the window. */
const EDGE_PX = 8;

/**
 * Shows a text, if there is one, while its children are hovered or focused: above them, or below
 * where there is no room. Screen readers get the text from the children's `aria-description`.
 */
export function Hint({ label, children }: { label: string | null; children: ReactNode }) {
  const around = useRef<HTMLSpanElement>(null);
  const [isShown, setShown] = useState(false);
  const place = (tip: HTMLSpanElement | null): void => {
    if (tip === null || around.current === null) return;
    const { left, top, bottom } = around.current.getBoundingClientRect();
    // React calls this again with each rendering.
    if (!tip.matches(":popover-open")) tip.showPopover();
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(EDGE_PX, Math.min(left, window.innerWidth - width - EDGE_PX))}px`;
    tip.style.top = `${top - height < EDGE_PX ? bottom : top - height}px`;
  };
  return (
    <span
      ref={around}
      className={classes["around"]}
      onMouseEnter={() => setShown(true)}
      onMouseLeave={() => setShown(false)}
      onFocus={() => setShown(true)}
      onBlur={() => setShown(false)}
      onKeyDown={({ key }) => key === "Escape" && setShown(false)}
    >
      {children}
      {isShown && label !== null && (
        <span ref={place} popover="manual" role="tooltip" className={classes["tip"]}>
          {label}
        </span>
      )}
    </span>
  );
}
