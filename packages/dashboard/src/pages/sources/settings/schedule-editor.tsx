import { NativeSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useOrgId } from "../../../api/session.ts";
import { messageOf } from "../../../parts/feedback/failure-panel.tsx";
import { localZone } from "../../../text/format.ts";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { CronField } from "./cron-field.tsx";
import { readCron, tidyCron } from "./cron-words.ts";
import { EditorForm } from "./editor-form.tsx";
import { issueMessages } from "./issue-messages.ts";
import { type ScheduleDraft, schedulePreviewQuery, type SourceDetail } from "../queries.ts";
import { ScheduledTimes } from "./scheduled-times.tsx";
import { useChange } from "./use-configure.ts";

const text = sourceSettingsText.schedule;
const TYPING_MS = 300;

/** Edits the schedule, and shows the resulting times before it is saved. */
export function ScheduleEditor({ source, onClose }: { source: SourceDetail; onClose: () => void }) {
  const { schedule } = source;
  const [backup, setBackup] = useState(schedule?.backup_cron ?? "");
  const [test, setTest] = useState(schedule?.restore_test_cron ?? "");
  const [timezone, setTimezone] = useState(schedule?.timezone ?? localZone());
  const change = useChange(source, text.heading.toLowerCase());

  const draft: ScheduleDraft = {
    backup_cron: tidyCron(backup),
    restore_test_cron: tidyCron(test),
    timezone,
  };
  const isReadable = [backup, test].every((typed) => readCron(typed).is !== "wrong");
  const isEmpty = draft.backup_cron === "" && draft.restore_test_cron === "";
  const [settled] = useDebouncedValue(draft, TYPING_MS, {});
  const isSettled = JSON.stringify(settled) === JSON.stringify(draft);
  const preview = useQuery({
    ...schedulePreviewQuery(useOrgId(), settled),
    enabled: isReadable && !isEmpty && isSettled,
    placeholderData: keepPreviousData,
  });
  // The service's errors for these fields, or for the schedule as a whole.
  const issues =
    isReadable && isSettled && !isEmpty ? issueMessages(preview.error) : new Map<string, string>();
  const shown = isReadable && preview.error === null ? preview.data : undefined;
  const isChecked = isEmpty || (isSettled && preview.isSuccess && !preview.isPlaceholderData);

  const problem = (): string | null => {
    if (!isReadable || issues.size > 0) return text.unsaveable;
    if (preview.isError && !isEmpty) return messageOf(preview.error);
    return isChecked ? null : text.checking;
  };
  const save = (): void => {
    onClose();
    change({
      schedule: isEmpty
        ? null
        : {
            backup_cron: draft.backup_cron || null,
            restore_test_cron: draft.restore_test_cron || null,
            timezone,
          },
    });
  };
  return (
    <EditorForm label={text.edit} problem={problem()} onSave={save} onCancel={onClose}>
      <CronField
        label={text.backupField}
        presetLabel={text.presetOf(text.backups)}
        value={backup}
        onChange={setBackup}
        issue={issues.get("/schedule/backup_cron")}
        autoFocus
      />
      {draft.backup_cron !== "" && shown?.backup !== null && shown?.backup !== undefined && (
        <ScheduledTimes heading={text.nextBackups} times={shown.backup} timeZone={shown.timezone} />
      )}
      <CronField
        label={text.testField}
        presetLabel={text.presetOf(text.tests)}
        value={test}
        onChange={setTest}
        issue={issues.get("/schedule/restore_test_cron")}
      />
      {draft.restore_test_cron !== "" &&
        shown?.restore_test !== null &&
        shown?.restore_test !== undefined && (
          <ScheduledTimes heading={text.nextTests} times={shown.restore_test} timeZone={shown.timezone} />
        )}
      <NativeSelect
        label={text.timezone}
        value={timezone}
        onChange={(event) => setTimezone(event.currentTarget.value)}
        data={timeZones(timezone)}
        error={issues.get("/schedule/timezone")}
      />
    </EditorForm>
  );
}

/** UTC first, then the zones that the browser knows; always includes the current setting. */
function timeZones(current: string): string[] {
  const known = Intl.supportedValuesOf("timeZone");
  return [...new Set(["UTC", current, ...known])];
}
