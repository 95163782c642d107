import { Text } from "@mantine/core";
import type { ReceiptVerdict } from "@attestore/proof";
import type { ReactNode } from "react";
import { StatusMark, type Status } from "../parts/status-mark.tsx";
import { verify as text } from "../text/verify.ts";
import classes from "./verdict-banner.module.css";

const MARKS: Record<ReceiptVerdict["verdict"], Status> = {
  true: "proven",
  false: "failed",
  cannot_tell: "none",
};

/** The verdict in one word, and what it means. Screen readers announce it when it appears. */
export function VerdictBanner({
  verdict,
  children,
}: {
  verdict: ReceiptVerdict["verdict"];
  children: ReactNode;
}) {
  return (
    <div role="status" className={classes["banner"]} data-verdict={verdict}>
      <div className={classes["word"]}>
        <StatusMark status={MARKS[verdict]} size={20} label="" />
        {text.verdict[verdict]}
      </div>
      <Text size="sm">{children}</Text>
    </div>
  );
}
