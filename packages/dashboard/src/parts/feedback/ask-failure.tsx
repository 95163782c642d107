import { Alert, Text } from "@mantine/core";
import { HostRefused, HostSilent } from "../../api/ask-agent.ts";
import { addSource as text } from "../../text/add-source.ts";
import { visible } from "../../text/visible.ts";
import { FailurePanel } from "./failure-panel.tsx";

/** Why an agent did not do what was asked of it. */
export function AskFailure({ error }: { error: unknown }) {
  if (!(error instanceof HostRefused || error instanceof HostSilent)) return <FailurePanel error={error} />;
  return (
    <Alert color="red" variant="light" role="alert" title={text.refused}>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {error instanceof HostSilent ? text.silent : visible(error.message, 2000)}
      </Text>
    </Alert>
  );
}
