import { StatusMark, type Status } from "../../parts/marks/status-mark.tsx";
import type { Receipt } from "./queries.ts";

const MARKS: Record<"backup" | "passed" | "failed", Status> = {
  backup: "backed_up",
  passed: "proven",
  failed: "failed",
};

/** The mark for a receipt's result; the words are beside it. */
export function ReceiptMark({ receipt }: { receipt: Pick<Receipt, "result"> }) {
  return <StatusMark status={MARKS[receipt.result ?? "backup"]} label="" />;
}
