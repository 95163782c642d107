/** Stroke drawings of 20 by 20, for the navigation and for actions. */
const SHAPES = {
  home: "M3 9l7-6 7 6v8h-5v-5H8v5H3z",
  sources: "M4 5c0-3 12-3 12 0v10c0 3-12 3-12 0zM4 5c0 3 12 3 12 0M4 10c0 3 12 3 12 0",
  backups: "M3 4h14v4H3zM4 8v8h12V8M8 11h4",
  agents: "M3 4h14v5H3zM3 11h14v5H3zM6 6.5h.01M6 13.5h.01M10 6.5h4M10 13.5h4",
  receipts: "M5 2h10v16l-2.5-2-2.5 2-2.5-2L5 18zM8 7h4M8 10.5h4",
  evidence: "M3 6l2-3h4l1.5 2H17v12H3zM7.5 11.5l2 2 3.5-4",
  log: "M5 4h12M5 10h12M5 16h12M2 4h.01M2 10h.01M2 16h.01",
  auditor: "M8.5 3a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM12.5 12.5L17 17",
  events: "M2 10h4l2-6 4 12 2-6h4",
  jobs: "M10 2.5a7.5 7.5 0 1 1 0 15 7.5 7.5 0 0 1 0-15zM8 7l5 3-5 3z",
  calls: "M7 5l-5 5 5 5M13 5l5 5-5 5",
  settings:
    "M10 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM10 2v2.5M10 15.5V18M2 10h2.5M15.5 10H18M4.3 4.3l1.8 1.8M13.9 13.9l1.8 1.8M4.3 15.7l1.8-1.8M13.9 6.1l1.8-1.8",
  notifications: "M5 14V9c0-7 10-7 10 0v5l1.5 1.5h-13zM8.5 17.5h3",
  keys: "M6.5 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM9.5 10H18v3M14.5 10v2.5",
  members:
    "M7.5 3.5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM2 17c0-6 11-6 11 0M13 4a3 3 0 0 1 0 5.5M15 12c2 .7 3 2.5 3 5",
  passkeys: "M6.5 7a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM9.5 10H18v3M14.5 10v2.5",
  organisation: "M3 17V4h8v13M11 8h6v9M2 17h16M6 7.5h2M6 11h2",
  attach: "M10 4v12M4 10h12",
  more: "M3 5h14M3 10h14M3 15h14",
  search: "M8.5 3a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM12.5 12.5L17 17",
  down: "M5 7.5l5 5 5-5",
  check: "M4 10.5l4 4 8-9",
  dots: "M4 10h.01M10 10h.01M16 10h.01",
  open: "M8 4H4v12h12v-4M11 3h6v6M17 3l-8 8",
  repeat: "M16 6.5A7 7 0 1 0 17 11M17 3v4h-4",
  share: "M10 12V3M6.5 6L10 2.5 13.5 6M5 9H3.5v8h13V9H15",
  print: "M6 7V3h8v4M6 14H3V7h14v7h-3M6 11.5h8V17H6z",
} as const;

export type IconName = keyof typeof SHAPES;

/** A decoration: the words are beside it, or in the button's name. */
export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "dots" ? 2.5 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      style={{ flex: "none", display: "block" }}
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}
