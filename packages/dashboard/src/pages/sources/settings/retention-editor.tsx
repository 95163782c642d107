import { SimpleGrid, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useOrgId } from "../../../api/session.ts";
import { messageOf } from "../../../parts/feedback/failure-panel.tsx";
import { showToast } from "../../../parts/feedback/toasts.ts";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { EditorForm } from "./editor-form.tsx";
import { readCount, retentionOf, RULES, type Rules, rulesOf } from "./keep-rules.ts";
import { retentionPreviewQuery, type SourceDetail } from "../queries.ts";
import { RetentionOutcome } from "./retention-outcome.tsx";
import { useConfigure } from "./use-configure.ts";

const text = sourceSettingsText.retention;
const TYPING_MS = 300;

/** Edits the retention rules, and shows what they would remove before they are saved. */
export function RetentionEditor({ source, onClose }: { source: SourceDetail; onClose: () => void }) {
  const [typed, setTyped] = useState<Record<keyof Rules, string>>(() => {
    const rules = rulesOf(source.retention);
    return Object.fromEntries(
      RULES.map((rule) => [rule, rules[rule] === 0 ? "" : String(rules[rule])]),
    ) as Record<keyof Rules, string>;
  });
  const counts = RULES.map((rule) => [rule, readCount(typed[rule])] as const);
  const isReadable = counts.every(([, count]) => count !== null);
  const rules = Object.fromEntries(counts.map(([rule, count]) => [rule, count ?? 0])) as Rules;
  const [settled] = useDebouncedValue(rules, TYPING_MS, {});
  const isSettled = JSON.stringify(settled) === JSON.stringify(rules);
  const preview = useInfiniteQuery({
    ...retentionPreviewQuery(useOrgId(), source.id, settled),
    enabled: isReadable && isSettled,
    placeholderData: keepPreviousData,
  });
  const configure = useConfigure(source.id, () => {
    onClose();
    showToast(sourceSettingsText.settings.done(source.name, text.heading.toLowerCase()));
  });
  const isCurrent = isReadable && isSettled && preview.isSuccess && !preview.isPlaceholderData;
  const going = isCurrent ? (preview.data.pages[0]?.remove_count ?? 0) : 0;
  const problem = (): string | null => {
    if (!isReadable) return text.range;
    if (preview.isError && isSettled) return messageOf(preview.error);
    return isCurrent ? null : text.notPreviewed;
  };
  return (
    <EditorForm
      label={text.edit}
      problem={problem()}
      pending={configure.isPending}
      error={configure.error}
      {...(going > 0 ? { saveLabel: text.saveAndRemove(going), isDestructive: true } : {})}
      onSave={() => configure.mutate({ retention: retentionOf(rules) })}
      onCancel={onClose}
    >
      <Text size="sm">{text.union}</Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {counts.map(([rule, count], index) => (
          <TextInput
            key={rule}
            label={text.rules[rule]}
            inputMode="numeric"
            maxLength={6}
            value={typed[rule]}
            autoFocus={index === 0}
            error={count === null ? text.range : undefined}
            onChange={(event) => setTyped({ ...typed, [rule]: event.currentTarget.value })}
          />
        ))}
      </SimpleGrid>
      {isReadable && <RetentionOutcome preview={preview} isCurrent={isCurrent} />}
    </EditorForm>
  );
}
