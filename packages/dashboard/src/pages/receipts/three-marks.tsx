import { Text } from "@mantine/core";
import { Icon } from "../../parts/marks/icon.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { receipts } from "../../text/receipts.ts";
import classes from "./certificate.module.css";
import { type Mark, MARKS, type ProofHere } from "./use-proof-here.ts";

const text = receipts.certificate.marks;

/**
 * Three marks, and that they rest on the service's keys. Nothing is claimed before it was verified.
 */
export function ThreeMarks({
  proof: { results, state, isDone, error },
  isOfFailedTest,
}: {
  proof: ProofHere;
  isOfFailedTest: boolean;
}) {
  return (
    <div role="status">
      <ul className={classes["marks"]} aria-label={text.label}>
        {(Object.keys(MARKS) as Mark[]).map((mark) => {
          const result = results[mark];
          return (
            <li key={mark} data-mark={mark} data-state={result ?? "unknown"}>
              {result === "held" && isOfFailedTest ? (
                // Green would be taken for a pass.
                <Icon name="check" size={16} />
              ) : (
                <StatusMark
                  status={result === "held" ? "proven" : result === "failed" ? "failed" : "none"}
                  label=""
                />
              )}
              {result === null ? text.unknown[mark] : text[result][mark]}
            </li>
          );
        })}
      </ul>
      {isDone && state !== "failed" && (
        <Text size="sm" c="dimmed">
          {text.servedKeys}
        </Text>
      )}
      {state === "failed" ? (
        <Text fw={600} c="var(--status-failed)">
          {text.isFalse}
        </Text>
      ) : (
        error !== null && <Text size="sm">{text.notVerified}</Text>
      )}
    </div>
  );
}
