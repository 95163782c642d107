/** One line of a checklist: what was compared, and the result. */
export interface CheckedLine {
  id: string;
  title: string;
  result: "held" | "failed" | "not_checked";
  detail: string;
}
