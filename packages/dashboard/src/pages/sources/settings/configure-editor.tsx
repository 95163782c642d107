import { NativeSelect, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { EditorForm } from "./editor-form.tsx";
import type { SourceDetail } from "../queries.ts";
import { useAgents } from "../../../api/use-agents.ts";
import { useChange } from "./use-configure.ts";

const text = sourceSettingsText.configure;
const SAME = "";

/** Renames a source, moves it to another agent, or has another one test it. */
export function ConfigureEditor({ source, onClose }: { source: SourceDetail; onClose: () => void }) {
  const agents = useAgents();
  const [name, setName] = useState(source.name);
  const [agentId, setAgentId] = useState(source.agent_id);
  const [testerId, setTesterId] = useState(source.test_agent_id ?? SAME);
  const change = useChange(source, text.heading.toLowerCase());
  const tidyName = name.trim();
  const isNamed = tidyName.length > 0 && tidyName.length <= 100;
  // Keep the current agent in the list even if it is revoked.
  const choicesBut = (current: string | null) =>
    agents.all
      .filter(({ id, status }) => status === "active" || id === current)
      .map(({ id, name: label, hostname, status }) => ({
        value: id,
        label: `${label} (${hostname})${status === "revoked" ? `, ${text.revoked}` : ""}`,
      }));
  const save = (): void => {
    const tester = testerId === SAME ? null : testerId;
    onClose();
    change({
      ...(tidyName === source.name ? {} : { name: tidyName }),
      ...(agentId === source.agent_id ? {} : { agent_id: agentId }),
      ...(tester === source.test_agent_id ? {} : { test_agent_id: tester }),
    });
  };
  return (
    <EditorForm label={text.edit} problem={isNamed ? null : text.nameNeeded} onSave={save} onCancel={onClose}>
      <TextInput
        label={text.name}
        value={name}
        maxLength={100}
        autoFocus
        error={isNamed ? undefined : text.nameNeeded}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <NativeSelect
        label={text.agent}
        value={agentId}
        data={choicesBut(source.agent_id)}
        onChange={(event) => setAgentId(event.currentTarget.value)}
      />
      {agentId !== source.agent_id && <Text size="sm">{text.moveHint}</Text>}
      <NativeSelect
        label={text.tester}
        description={text.testerHint}
        inputWrapperOrder={["label", "input", "error", "description"]}
        value={testerId}
        data={[{ value: SAME, label: text.sameAgent }, ...choicesBut(source.test_agent_id)]}
        onChange={(event) => setTesterId(event.currentTarget.value)}
      />
    </EditorForm>
  );
}
