import { List, Text } from "@mantine/core";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { ruleWords } from "./keep-rules.ts";
import type { SourceDetail } from "../queries.ts";
import { RetentionEditor } from "./retention-editor.tsx";
import { RetentionHeld } from "./retention-held.tsx";
import { SettingSection } from "./setting-section.tsx";

const text = sourceSettingsText.retention;

/** Which backups are kept. */
export function RetentionSection({ source }: { source: SourceDetail }) {
  const words = ruleWords(source.retention);
  return (
    <SettingSection
      heading={text.heading}
      editLabel={text.edit}
      editor={(close) => <RetentionEditor source={source} onClose={close} />}
    >
      {words.length > 0 && <RetentionHeld source={source} />}
      {words.length === 0 ? (
        <Text>{text.none}</Text>
      ) : (
        <div>
          <Text>{text.kept}</Text>
          <List>
            {words.map((rule) => (
              <List.Item key={rule}>{rule}</List.Item>
            ))}
          </List>
          <Text size="sm" c="dimmed">
            {text.union}
          </Text>
        </div>
      )}
    </SettingSection>
  );
}
