import type { Schemas } from "@attestore/contract/client";
import { Group, Stack, TextInput } from "@mantine/core";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { save } from "../../parts/feedback/save-with-undo.ts";
import { Section } from "../../parts/layout/section.tsx";
import { people } from "../../text/people.ts";
import { settings } from "../../text/settings.ts";

const text = settings.name;

export function RenameOrg({ org: { id, name } }: { org: Schemas["OrgRecord"] }) {
  const mayManage = useMayManage();
  // Null while it is the saved name, which may change.
  const [typed, setTyped] = useState<string | null>(null);
  const wanted = (typed ?? name).trim();
  const rename = (): void => {
    if (!mayManage || wanted === "" || wanted === name) return;
    setTyped(null);
    void save({
      id,
      within: [["me"], ["orgs", "mine"]],
      before: { name },
      after: { name: wanted },
      call: (body) => api.call("patch", "/api/orgs/{orgID}", { path: { orgID: id }, body }),
      done: text.done(wanted),
    });
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    rename();
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
            value={typed ?? name}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          <Group>
            <ReasonedButton disabledReason={mayManage ? null : people.onlyManagers} onClick={rename}>
              {text.save}
            </ReasonedButton>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
