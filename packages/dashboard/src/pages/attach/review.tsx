import type { Schemas } from "@attestore/contract/client";
import { Alert, Checkbox, Code, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useMe } from "../../api/session.ts";
import { ConfirmDialog } from "../../parts/actions/confirm-dialog.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { agentQuery } from "../agents/queries.ts";
import { AfterAttach } from "./after-attach.tsx";
import { attach } from "../../text/attach.ts";

const text = attach.code;
type Machine = Schemas["BootstrapRecord"];

/**
 * A waiting host: what it claims about itself, and the fingerprint to compare with the one it
 * shows.
 */
export function Review({ orgId, code, machine }: { orgId: string; code: string; machine: Machine }) {
  return (
    <Section title={text.compareTitle}>
      {machine.status === "pending" && <Text size="sm">{text.compare}</Text>}
      <Stack gap={4}>
        <Text size="sm" c="dimmed">
          {text.fingerprint}
        </Text>
        <Code fz="md" style={{ overflowWrap: "anywhere", whiteSpace: "normal" }}>
          {machine.key_fingerprint}
        </Code>
      </Stack>
      <FactList
        facts={[
          [text.name, machine.name],
          [text.hostname, machine.hostname],
          [text.platform, machine.platform],
          [text.version, machine.agent_version],
          [text.address, machine.address],
          [text.waits, <Moment key="until" at={machine.expires_at} />],
        ]}
      />
      {machine.status === "pending" ? (
        <Decide orgId={orgId} code={code} machine={machine} />
      ) : (
        <Decided orgId={orgId} machine={machine} />
      )}
    </Section>
  );
}

function Decided({ orgId, machine }: { orgId: string; machine: Machine }) {
  const isIn = machine.status === "approved";
  const hasPages = useMe().org !== null;
  const agent = useQuery({
    ...agentQuery(orgId, machine.agent_id ?? ""),
    enabled: machine.agent_id !== null && hasPages,
  });
  return (
    <>
      <Alert color={isIn ? "teal" : "gray"} variant="light" role="status">
        <Text size="sm">{isIn ? attach.attached(machine.name) : text.denied(machine.name)}</Text>
        {machine.agent_id !== null && hasPages && (
          <Link to="/agents/$agentId" params={{ agentId: machine.agent_id }}>
            {text.openAgent}
          </Link>
        )}
      </Alert>
      {isIn && <AfterAttach isRunning={(agent.data?.last_seen_at ?? null) !== null} />}
    </>
  );
}

function Decide({ orgId, code, machine }: { orgId: string; code: string; machine: Machine }) {
  const { role } = useMe().user;
  const [same, setSame] = useState(false);
  const [opened, { open, close }] = useDisclosure(false);
  const client = useQueryClient();
  const path = { orgID: orgId, code };
  const decided = async (): Promise<void> => {
    close();
    await client.invalidateQueries({ queryKey: ["bootstrap", orgId, code] });
    await client.invalidateQueries({ queryKey: ["agents", orgId] });
  };
  const approve = useMutation({
    mutationFn: () => api.call("post", "/api/orgs/{orgID}/bootstraps/{code}/approve", { path }),
    onSettled: decided,
  });
  const deny = useMutation({
    mutationFn: () => api.call("post", "/api/orgs/{orgID}/bootstraps/{code}/deny", { path }),
    onSuccess: decided,
  });
  const onlyLooksOn = role === "auditor" ? text.onlyReviewers : null;
  return (
    <Stack>
      <Checkbox
        label={text.same}
        checked={same}
        disabled={onlyLooksOn !== null}
        onChange={(event) => setSame(event.currentTarget.checked)}
      />
      {approve.isError && <FailurePanel error={approve.error} />}
      <Group>
        <ReasonedButton
          loading={approve.isPending}
          disabledReason={onlyLooksOn ?? (same ? null : text.mustCompare)}
          onClick={() => approve.mutate()}
        >
          {text.approve}
        </ReasonedButton>
        <ReasonedButton color="red.9" disabledReason={onlyLooksOn} onClick={open}>
          {text.deny}
        </ReasonedButton>
      </Group>
      <ConfirmDialog
        opened={opened}
        title={text.denyTitle(machine.name)}
        action={text.denyConfirm(machine.name)}
        pending={deny.isPending}
        error={deny.error}
        onConfirm={() => deny.mutate()}
        onClose={close}
      >
        <Text size="sm">{text.denyText}</Text>
      </ConfirmDialog>
    </Stack>
  );
}
