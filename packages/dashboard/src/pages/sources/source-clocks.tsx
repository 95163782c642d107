import { SimpleGrid, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Age, useNow } from "../../parts/marks/age.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { sourceText } from "../../text/sources.ts";
import type { SourceDetail } from "./queries.ts";
import { exactDuration } from "./typed-duration.ts";

const text = sourceText.clocks;

/** A source's two clocks, and when its next backup and restore test are due. */
export function SourceClocks({ source }: { source: SourceDetail }) {
  const { last_backup_at, last_proven_at, next_backup_at, next_restore_test_at } = source;
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }} component="section" aria-label={text.heading}>
      <Clock label={text.lastBackup} at={last_backup_at} note={<RpoNote source={source} />} />
      <Clock label={text.lastProof} at={last_proven_at} note={text.proofHint} />
      <Due label={text.nextBackup} at={next_backup_at} />
      <Due label={text.nextTest} at={next_restore_test_at} />
    </SimpleGrid>
  );
}

function Clock({ label, at, note }: { label: string; at: string | null; note: ReactNode }) {
  return (
    <Tile label={label} value={<Age at={at} fallback={text.never} />}>
      {at !== null && (
        <Text size="sm">
          <Moment at={at} />
        </Text>
      )}
      <Text size="sm" c="dimmed" component="div">
        {note}
      </Text>
    </Tile>
  );
}

function Due({ label, at }: { label: string; at: string | null }) {
  const now = useNow();
  const isPast = at !== null && new Date(at) < now;
  return (
    <Tile label={label} value={<Age at={at} fallback={text.notScheduled} />}>
      {at !== null && (
        <Text size="sm">
          {isPast && `${text.dueSince} `}
          <Moment at={at} />
        </Text>
      )}
    </Tile>
  );
}

function Tile({ label, value, children }: { label: string; value: ReactNode; children: ReactNode }) {
  return (
    <div>
      <Text size="sm" c="dimmed" component="h2">
        {label}
      </Text>
      <Text size="lg" fw={600} component="div">
        {value}
      </Text>
      {children}
    </div>
  );
}

function RpoNote({ source: { objectives, last_backup_at } }: { source: SourceDetail }) {
  const now = useNow();
  const rpo_s = objectives?.rpo_s;
  if (rpo_s === undefined) return <>{text.noObjective}</>;
  const isMet = last_backup_at !== null && now.getTime() - new Date(last_backup_at).getTime() <= rpo_s * 1000;
  const rpo = exactDuration(rpo_s);
  return (
    <span style={{ display: "inline-flex", gap: 6, alignItems: "center" }}>
      <StatusMark status={isMet ? "proven" : "missed"} size={14} label="" />
      {isMet ? text.withinRpo(rpo) : text.beyondRpo(rpo)}
    </span>
  );
}
