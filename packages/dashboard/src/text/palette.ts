import { plural } from "./format.ts";

/** Texts of the search over everything, and of keyboard shortcuts. */
export const palette = {
  title: "Search",
  open: "Search",
  label: "What to look for",
  placeholder: "A page, source, agent, receipt or action",
  results: "Results",
  found: (count: number) => plural(count, "result"),
  none: "Nothing matches.",
  look: (scheme: string) => `Colours: ${scheme}`,
  help: "Keyboard shortcuts",
  kinds: { page: "Page", source: "Source", agent: "Agent", receipt: "Receipt", action: "Action" },
  keys: {
    title: "Keyboard shortcuts",
    single: "Use the keys without Ctrl or ⌘",
    list: [
      [["⌘ K", "Ctrl K"], "Search everything"],
      [["/"], "Go to the page's filter, or search everything"],
      [["j"], "Next row"],
      [["k"], "Row before"],
      [["Enter"], "Open the row"],
      [["g", "h"], "Go to Home"],
      [["g", "s"], "Go to Sources"],
      [["g", "b"], "Go to Backups"],
      [["g", "a"], "Go to Agents"],
      [["g", "r"], "Go to Receipts"],
      [["g", "l"], "Go to the log"],
      [["g", "e"], "Go to Events"],
      [["g", "j"], "Go to Jobs"],
      [["?"], "Show these shortcuts"],
    ],
  },
} as const;
