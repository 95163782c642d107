import { CallRefused } from "@attestore/contract/client";
import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useMe } from "../../api/session.ts";
import { every } from "../../api/query-client.ts";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { PageSkeleton } from "../../parts/feedback/page-skeleton.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { attach } from "../../text/attach.ts";
import { AllowRemoteConfig, allowing } from "./allow-remote-config.tsx";
import { ChooseOrg } from "./choose-org.tsx";
import { Review } from "./review.tsx";
import { OtherHosts } from "./other-hosts.tsx";
import { type ServedForHosts, useServedForHosts } from "../../api/served-for-hosts.ts";

const text = attach.code;

/**
 * Finds the host that waits with a code. Waiting hosts cannot be listed, because they belong to no
 * organisation until approved.
 */
export function ByCode({ code: given }: { code: string }) {
  const { org } = useMe();
  const [typed, setTyped] = useState(given);
  const [code, setCode] = useState(given.trim());
  const [orgId, setOrgId] = useState(org?.id ?? "");
  const served = useServedForHosts();
  const program = served?.hasPackages === false ? "npx attestore" : "sudo attestore";
  const [isAllowed, setIsAllowed] = useState(false);
  const command = commandOf(served, program);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    setCode(typed.trim());
  };
  return (
    <Stack>
      <Section title={attach.ways.code}>
        <Text size="sm">{text.explanation}</Text>
        {served?.hasPackages === false && <Text size="sm">{attach.onlyHere}</Text>}
        {served?.hasPackages === true && <Text size="sm">{text.install}</Text>}
        <OtherHosts />
        <AllowRemoteConfig checked={isAllowed} onChange={setIsAllowed} />
        <CommandText text={isAllowed ? allowing(command) : command} label={text.command} />
        <form onSubmit={submit}>
          <Stack maw={420}>
            {org === null && <ChooseOrg value={orgId} onChange={setOrgId} />}
            <TextInput
              label={text.label}
              description={text.hint}
              required
              maxLength={16}
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              styles={{
                input: { fontFamily: "var(--mantine-font-family-monospace)", textTransform: "uppercase" },
              }}
            />
            <Group>
              <Button type="submit" variant="default">
                {text.review}
              </Button>
            </Group>
          </Stack>
        </form>
      </Section>
      {code !== "" && orgId !== "" && <Waiting key={`${orgId} ${code}`} orgId={orgId} code={code} />}
    </Stack>
  );
}

/** A host that knows nothing of the service's own authority is told which one to trust. */
function commandOf(served: ServedForHosts | undefined, program: string): string {
  const caSha256 = served?.caSha256 ?? null;
  const pin = caSha256 === null ? "" : ` --ca-sha256 ${caSha256}`;
  return `${program} init --service ${window.location.origin}${pin}`;
}

const EVERY_MS = 3000;

function Waiting({ orgId, code }: { orgId: string; code: string }) {
  const query = useQuery({
    queryKey: ["bootstrap", orgId, code],
    queryFn: async () =>
      (await api.call("get", "/api/orgs/{orgID}/bootstraps/{code}", { path: { orgID: orgId, code } })).body,
    retry: false,
    // Somebody else may have decided in the meantime.
    refetchInterval: ({ state }) =>
      state.data?.status === "pending" && state.error === null ? every(EVERY_MS)() : false,
  });
  if (query.data !== undefined && query.error === null)
    return <Review orgId={orgId} code={code} machine={query.data} />;
  if (query.error === null) return <PageSkeleton />;
  const known = query.error instanceof CallRefused ? REFUSALS[query.error.code] : undefined;
  if (known === undefined) return <FailurePanel error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <Alert color="orange" variant="light" role="alert">
      {known}
    </Alert>
  );
}

const REFUSALS: Partial<Record<string, string>> = { not_found: text.noSuch, attach_expired: text.expired };
