import { Button, Group, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Section } from "../../parts/section.tsx";
import { StatusMark } from "../../parts/status-mark.tsx";
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
export function FirstProof({ source, onSeen }: { source: string; onSeen: () => void }) {
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
            <Text>{text.text(source)}</Text>
            <Group gap="sm" mt="sm">
              <Button
                renderRoot={(props) => <Link to="/receipts" search={{ result: "passed" }} {...props} />}
              >
                {text.receipt}
              </Button>
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
