import { Stack, Text } from "@mantine/core";
import { FactList } from "../../../parts/facts/fact-list.tsx";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { readCron } from "./cron-words.ts";
import type { SourceDetail } from "../queries.ts";
import { ScheduleEditor } from "./schedule-editor.tsx";
import { SettingSection } from "./setting-section.tsx";

const text = sourceSettingsText.schedule;

/** The source's schedule of backups and restore tests. */
export function ScheduleSection({ source }: { source: SourceDetail }) {
  const { schedule } = source;
  return (
    <SettingSection
      heading={text.heading}
      editLabel={text.edit}
      editor={(close) => <ScheduleEditor source={source} onClose={close} />}
    >
      {schedule === null ? (
        <Text>{text.none}</Text>
      ) : (
        <FactList
          facts={[
            [text.backups, <CronWords key="backup" pattern={schedule.backup_cron} />],
            [text.tests, <CronWords key="test" pattern={schedule.restore_test_cron} />],
            [text.timezone, schedule.timezone],
          ]}
        />
      )}
    </SettingSection>
  );
}

function CronWords({ pattern }: { pattern: string | null }) {
  if (pattern === null) return <>{text.never}</>;
  const reading = readCron(pattern);
  return (
    <Stack gap={0}>
      <span>{reading.is === "words" ? reading.words : pattern}</span>
      {reading.is === "words" && (
        <Text size="xs" c="dimmed" component="span">
          {pattern}
        </Text>
      )}
    </Stack>
  );
}
