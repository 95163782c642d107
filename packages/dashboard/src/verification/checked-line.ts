/** One line of a checklist: what was compared, and what came of it. */
export interface CheckedLine {
  id: string;
  title: string;
  result: "held" | "failed" | "not_checked";
  detail: string;
}
