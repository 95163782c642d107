import { StatusMark, type Status } from "../../parts/status-mark.tsx";
import type { Receipt } from "./queries.ts";

const MARKS: Record<"backup" | "passed" | "failed", Status> = {
  backup: "backed_up",
  passed: "proven",
  failed: "failed",
};

/** The mark for a receipt's result; the words are beside it. */
export function ReceiptMark({ receipt, size }: { receipt: Pick<Receipt, "result">; size?: number }) {
  return (
    <StatusMark
      status={MARKS[receipt.result ?? "backup"]}
      label=""
      {...(size === undefined ? {} : { size })}
    />
  );
}
