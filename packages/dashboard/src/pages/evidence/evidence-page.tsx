import { Alert, Button, Group, List, SegmentedControl, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useMe, useOrgId } from "../../api/session.ts";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { dayBefore, dayOf, periodOfDays } from "../../text/days.ts";
import { evidence as text } from "../../text/evidence.ts";
import { type Days, type Preset, presetDays, PRESETS } from "./period-presets.ts";

const MAX_MS = 400 * 86_400_000;

/** A period's evidence as one file. A reader with an auditor link gets that link's period. */
export function EvidencePage() {
  const orgId = useOrgId();
  const { auditor_link: link } = useMe();
  const [days, setDays] = useState<Days>(() =>
    link === null ? presetDays("month", new Date()) : { first: dayOf(link.from), last: dayBefore(link.to) },
  );
  const [preset, setPreset] = useState<Preset | null>(link === null ? "month" : null);
  const change = (changed: Partial<Days>): void => {
    setPreset(null);
    setDays({ ...days, ...changed });
  };
  return (
    <Page title={text.title} lead={text.lead}>
      <Section title={text.period.title}>
        {link === null && (
          <SegmentedControl
            aria-label={text.period.presets}
            orientation="horizontal"
            w="fit-content"
            maw="100%"
            style={{ flexWrap: "wrap" }}
            value={preset ?? ""}
            data={PRESETS}
            onChange={(value) => {
              setPreset(value as Preset);
              setDays(presetDays(value as Preset, new Date()));
            }}
          />
        )}
        <Group align="flex-end">
          <TextInput
            type="date"
            label={text.period.from}
            value={days.first}
            onChange={(event) => change({ first: event.currentTarget.value })}
          />
          <TextInput
            type="date"
            label={text.period.to}
            value={days.last}
            onChange={(event) => change({ last: event.currentTarget.value })}
          />
        </Group>
        <Text size="sm" c="dimmed">
          {text.period.zone}
        </Text>
        <Download orgId={orgId} days={days} />
      </Section>
      <Section title={text.inside.title}>
        <List size="sm" spacing={4}>
          {text.inside.list.map((item) => (
            <List.Item key={item}>{item}</List.Item>
          ))}
        </List>
      </Section>
      <Section title={text.check.title}>
        <Text size="sm">{text.check.text}</Text>
        <CommandText
          text={`${text.check.command} evidence-${orgId}-${days.first}-*.zip --log-key log.vkey --key agent.pub`}
          label={text.check.title}
        />
      </Section>
    </Page>
  );
}

function Download({ orgId, days }: { orgId: string; days: Days }) {
  const period = periodOfDays(days.first, days.last);
  const fault = faultOf(period);
  if (period === null || fault !== null)
    return (
      <Alert color="orange" variant="light" role="alert">
        {fault}
      </Alert>
    );
  return (
    <Stack gap="xs">
      <Group>
        {/* A link, so that the browser streams the pack to disk: it may be larger than memory. */}
        <Button
          component="a"
          href={`/api/orgs/${orgId}/evidence?${new URLSearchParams(period).toString()}`}
          download
        >
          {text.period.download}
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        {text.period.building}
      </Text>
    </Stack>
  );
}

function faultOf(period: { from: string; to: string } | null): string | null {
  if (period === null) return text.period.wrong;
  if (Date.parse(period.to) - Date.parse(period.from) > MAX_MS) return text.period.wrong;
  return Date.parse(period.from) >= Date.now() ? text.period.future : null;
}
