import { VisuallyHidden } from "@mantine/core";
import { strings } from "../../text/strings.ts";

/** The state of a source, a day or a backup. */
export type Status = "proven" | "backed_up" | "failed" | "missed" | "none";

const COLOURS: Record<Status, string> = {
  proven: "var(--status-proven)",
  backed_up: "var(--status-backed-up)",
  failed: "var(--status-failed)",
  missed: "var(--status-missed)",
  none: "var(--status-none)",
};

/** Each state has its own shape, so that colour is not needed to tell them apart. */
function Shape({ status }: { status: Status }) {
  switch (status) {
    case "proven":
      return (
        <>
          <circle cx="8" cy="8" r="7" fill="currentColor" />
          <path d="M4.5 8.2l2.4 2.4 4.6-5.2" stroke="var(--mantine-color-body)" strokeWidth="2" fill="none" />
        </>
      );
    case "backed_up":
      return (
        <>
          <circle cx="8" cy="8" r="6" stroke="currentColor" strokeWidth="2" fill="none" />
          <path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor" />
        </>
      );
    case "failed":
      return (
        <>
          <rect x="1.5" y="1.5" width="13" height="13" rx="2" fill="currentColor" />
          <path d="M5 5l6 6M11 5l-6 6" stroke="var(--mantine-color-body)" strokeWidth="2" />
        </>
      );
    case "missed":
      return (
        <path d="M8 2l6.5 12h-13z" stroke="currentColor" strokeWidth="2" fill="none" strokeLinejoin="round" />
      );
    case "none":
      return <path d="M4 8h8" stroke="currentColor" strokeWidth="2" />;
  }
}

/**
 * The mark alone. Screen readers get its word; the caller shows the word beside it if there is
 * room.
 */
export function StatusMark({ status, size = 16, label }: { status: Status; size?: number; label?: string }) {
  return (
    <span style={{ color: COLOURS[status], display: "inline-flex", flex: "none" }}>
      <svg width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
        <Shape status={status} />
      </svg>
      <VisuallyHidden>{label ?? strings.status[status]}</VisuallyHidden>
    </span>
  );
}
