import { StatusMark, type Status } from "../../parts/status-mark.tsx";
import type { Receipt } from "./queries.ts";

const MARKS: Record<"backup" | "passed" | "failed", Status> = {
  backup: "backed_up",
  passed: "proven",
  failed: "failed",
};

/** The mark of what a receipt says; its words stand beside it. */
export function ReceiptMark({ receipt }: { receipt: Pick<Receipt, "result"> }) {
  return <StatusMark status={MARKS[receipt.result ?? "backup"]} label="" />;
}
