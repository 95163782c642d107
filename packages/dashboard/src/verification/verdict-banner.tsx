import { Text } from "@mantine/core";
import type { ReceiptVerdict } from "@attestore/proof";
import type { ReactNode } from "react";
import { StatusMark, type Status } from "../parts/marks/status-mark.tsx";
import { verify as text } from "../text/verify.ts";
import classes from "./verdict-banner.module.css";

const MARKS: Record<ReceiptVerdict["verdict"], Status> = {
  true: "proven",
  false: "failed",
  cannot_tell: "none",
};

/**
 * The verdict in one word, and what it means. Screen readers announce it when it appears. A true
 * receipt of a failed test is never green: who glances at it would take it for a pass.
 */
export function VerdictBanner({
  verdict,
  isOfFailedTest = false,
  children,
}: {
  verdict: ReceiptVerdict["verdict"];
  isOfFailedTest?: boolean;
  children: ReactNode;
}) {
  const isBadNews = verdict === "true" && isOfFailedTest;
  return (
    <div role="status" className={classes["banner"]} data-verdict={verdict} data-bad-news={isBadNews}>
      <div className={classes["word"]}>
        <StatusMark status={isBadNews ? "none" : MARKS[verdict]} size={20} label="" />
        {isBadNews ? text.authentic : text.verdict[verdict]}
      </div>
      <Text size="sm">{children}</Text>
    </div>
  );
}
