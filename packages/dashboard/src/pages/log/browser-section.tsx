import { Alert, Button, Group, Text } from "@mantine/core";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { plural } from "../../text/format.ts";
import { logText } from "../../text/log.ts";
import { visible } from "../../text/visible.ts";
import { keepsAnything } from "../../verification/browser-storage.ts";
import type { Observation } from "../../verification/observe-head.ts";
import { ForgetButton } from "./split-view-alarm.tsx";
import type { LogWatch } from "./watch-log.ts";

const text = logText.browser;

interface BrowserSectionProps {
  watch: LogWatch;
  onCheck: () => void;
  isChecking: boolean;
}

/** What this browser stores of the log, and how the current head follows from it. */
export function BrowserSection({ watch, onCheck, isChecking }: BrowserSectionProps) {
  const { observation, held, damage, keys } = watch;
  return (
    <Section title={text.title}>
      <Text size="sm">{text.explanation}</Text>
      {observation !== null && (
        <Group gap="xs" wrap="nowrap" role="status" data-observation={observation.outcome}>
          <StatusMark status={observation.outcome === "first" ? "none" : "proven"} label="" />
          <Text fw={600}>{words(observation)}</Text>
        </Group>
      )}
      {damage !== null && (
        <Alert role="alert" color="red" variant="light" title={text.damaged}>
          <Text size="sm" mb="xs">
            {visible(damage)}
          </Text>
          <ForgetButton origin={keys.log_id} />
        </Alert>
      )}
      {!keepsAnything() && <Text c="dimmed">{text.storage}</Text>}
      {held !== null && (
        <FactList
          facts={[
            [text.key, <Moment at={held.since} />],
            [text.seen, <Moment at={held.seen_at} />],
          ]}
        />
      )}
      <Button variant="default" w="fit-content" loading={isChecking} onClick={onCheck}>
        {text.check}
      </Button>
    </Section>
  );
}

function words({ outcome, before, offered, hashes }: Observation): string {
  const leaves = (size: bigint | undefined): string => plural(Number(size ?? 0n), "leaf", "leaves");
  switch (outcome) {
    case "first":
      return text.first;
    case "same":
      return text.same(leaves(offered.size));
    case "grown":
      return text.grown(leaves(before?.size), leaves(offered.size), plural(hashes, "hash", "hashes"));
    case "followed":
      return text.followed(offered.generation, plural(hashes, "hash", "hashes"));
    case "overtaken":
      return text.overtaken(leaves(offered.size), leaves(before?.size));
  }
}
