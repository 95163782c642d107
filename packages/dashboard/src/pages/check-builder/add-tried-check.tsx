import { useNavigate } from "@tanstack/react-router";
import { useAskAgent } from "../../api/ask-agent.ts";
import { NameForm } from "../../parts/actions/name-form.tsx";
import { showToast } from "../../parts/feedback/toasts.ts";
import { checkBuilder as text } from "../../text/check-builder.ts";

interface AddTriedCheckProps {
  agentId: string;
  sourceId: string;
  tried: string;
  proposal: string;
}

/** Gives a check that was tried its name; the agent adds it as it tried it. */
export function AddTriedCheck({ agentId, sourceId, tried, proposal }: AddTriedCheckProps) {
  const add = useAskAgent(agentId, "add_check");
  const navigate = useNavigate();
  const onSuccess = (name: string): void => {
    showToast(text.added(name));
    void navigate({ to: "/sources/$sourceId", params: { sourceId }, search: { tab: "tests" } });
  };
  return (
    <NameForm
      label={text.name}
      proposal={proposal}
      action={text.add}
      request={add}
      onName={(name) => add.mutate({ tried, name }, { onSuccess: () => onSuccess(name) })}
    />
  );
}
