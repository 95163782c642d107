import { FactList } from "../../../parts/facts/fact-list.tsx";
import { RecordLink } from "../../../parts/records/record-link.tsx";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { ConfigureEditor } from "./configure-editor.tsx";
import type { SourceDetail } from "../queries.ts";
import { SettingSection } from "./setting-section.tsx";
import { useAgents } from "../../../api/use-agents.ts";
import { engineName } from "../../../text/engines.ts";

const text = sourceSettingsText.configure;

/** The source's name and agents. */
export function ConfigureSection({ source }: { source: SourceDetail }) {
  const { name, slug, engine, agent_id, test_agent_id } = source;
  return (
    <SettingSection
      heading={text.heading}
      editLabel={text.edit}
      editor={(close) => <ConfigureEditor source={source} onClose={close} />}
    >
      <FactList
        facts={[
          [text.name, name],
          [text.slug, slug],
          [text.engine, engineName(engine)],
          [text.agent, <AgentLink key="agent" id={agent_id} />],
          [
            text.tester,
            test_agent_id === null ? text.sameAgent : <AgentLink key="tester" id={test_agent_id} />,
          ],
        ]}
      />
    </SettingSection>
  );
}

function AgentLink({ id }: { id: string }) {
  const agents = useAgents();
  return (
    <>
      <RecordLink id={id}>{agents.nameOf(id)}</RecordLink>
      {agents.find(id)?.status === "revoked" && ` (${text.revoked})`}
    </>
  );
}
