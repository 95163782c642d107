import { Button, Group, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useOrgId } from "../../api/session.ts";
import { Section } from "../../parts/layout/section.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { receiptListQuery } from "../receipts/queries.ts";
import type { Source } from "../../text/home.ts";
import { onboarding } from "../../text/onboarding.ts";
import classes from "./first-proof.module.css";

const text = onboarding.first;
const PIECES = 14;
const COLOURS = [
  "var(--status-proven)",
  "var(--status-backed-up)",
  "var(--status-missed)",
  "var(--mantine-color-anchor)",
];

/** Celebrates that a backup of this organisation was proven for the first time. */
export function FirstProof({ source, onSeen }: { source: Source; onSeen: () => void }) {
  const passed = useInfiniteQuery(receiptListQuery(useOrgId(), { source_id: source.id, result: "passed" }));
  const proof = passed.data?.pages[0]?.items[0];
  const receipt = proof === undefined ? "/receipts" : `/receipts/${proof.id}`;
  return (
    <div role="status" className={classes["first"]}>
      <div aria-hidden="true" className={classes["confetti"]}>
        {Array.from({ length: PIECES }, (_, index) => (
          <i
            key={index}
            style={{
              left: `${4 + index * 7}%`,
              background: COLOURS[index % COLOURS.length],
              // Spread without order, the same each time.
              animationDelay: `${((index * 5) % 9) / 10}s`,
            }}
          />
        ))}
      </div>
      <Section title={text.heading}>
        <Group gap="md" wrap="nowrap" align="flex-start">
          <StatusMark status="proven" size={48} label="" />
          <div>
            <Text>{text.text(source.name)}</Text>
            <Group gap="sm" mt="sm">
              <Button renderRoot={(props) => <Link to={receipt} {...props} />}>{text.receipt}</Button>
              <Button variant="default" onClick={onSeen}>
                {text.goOn}
              </Button>
            </Group>
          </div>
        </Group>
      </Section>
    </div>
  );
}
