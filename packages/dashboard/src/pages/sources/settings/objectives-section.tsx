import { Text } from "@mantine/core";
import { FactList } from "../../../parts/facts/fact-list.tsx";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { ObjectivesEditor } from "./objectives-editor.tsx";
import type { SourceDetail } from "../queries.ts";
import { SettingSection } from "./setting-section.tsx";
import { exactDuration } from "../typed-duration.ts";

const text = sourceSettingsText.objectives;

/** The source's RPO and RTO. */
export function ObjectivesSection({ source }: { source: SourceDetail }) {
  const { rpo_s, rto_s } = source.objectives ?? {};
  return (
    <SettingSection
      heading={text.heading}
      editLabel={text.edit}
      editor={(close) => <ObjectivesEditor source={source} onClose={close} />}
    >
      {rpo_s === undefined && rto_s === undefined ? (
        <Text>{text.none}</Text>
      ) : (
        <FactList
          facts={[
            [text.rpoShort, rpo_s === undefined ? text.notSet : exactDuration(rpo_s)],
            [text.rtoShort, rto_s === undefined ? text.notSet : exactDuration(rto_s)],
          ]}
        />
      )}
    </SettingSection>
  );
}
