import type { Schemas } from "@attestore/contract/client";
import { Group, Stack, TextInput } from "@mantine/core";
import { type SubmitEvent, useState } from "react";
import { useMayManage } from "../../api/session.ts";
import { FailurePanel } from "../../parts/failure-panel.tsx";
import { ReasonedButton } from "../../parts/reasoned-button.tsx";
import { Section } from "../../parts/section.tsx";
import { people } from "../../text/people.ts";
import { settings } from "../../text/settings.ts";
import { useChangeOrg } from "./change-org.ts";

const text = settings.name;

export function RenameOrg({ org }: { org: Schemas["OrgRecord"] }) {
  const mayManage = useMayManage();
  const [name, setName] = useState(org.name);
  const change = useChangeOrg(org.id);
  const save = (): void => change.mutate({ name: name.trim() });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (mayManage) save();
  };
  return (
    <Section title={text.title}>
      <form onSubmit={submit}>
        <Stack maw={420}>
          <TextInput
            label={text.label}
            required
            maxLength={100}
            readOnly={!mayManage}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {change.isError && <FailurePanel error={change.error} />}
          <Group>
            <ReasonedButton
              loading={change.isPending}
              disabledReason={mayManage ? null : people.onlyManagers}
              onClick={save}
            >
              {text.save}
            </ReasonedButton>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
