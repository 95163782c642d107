import { Stack, Text, VisuallyHidden } from "@mantine/core";
import { useMayManage } from "../../../api/session.ts";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { sourceText } from "../../../text/sources.ts";
import { ConfigureSection } from "./configure-section.tsx";
import { ObjectivesSection } from "./objectives-section.tsx";
import type { SourceDetail } from "../queries.ts";
import { RemoveSection } from "./remove-section.tsx";
import { RetentionSection } from "./retention-section.tsx";
import { ScheduleSection } from "./schedule-section.tsx";

const text = sourceSettingsText.settings;

/** A source's settings, with editors for those who may change them. */
export function SettingsTab({ source }: { source: SourceDetail }) {
  const mayManage = useMayManage();
  return (
    <Stack maw={860}>
      <VisuallyHidden>
        <h2>{sourceText.page.tabs.settings}</h2>
      </VisuallyHidden>
      {!mayManage && <Text c="dimmed">{text.readOnly}</Text>}
      <ScheduleSection source={source} />
      <RetentionSection source={source} />
      <ObjectivesSection source={source} />
      <ConfigureSection source={source} />
      {mayManage && <RemoveSection source={source} />}
    </Stack>
  );
}
