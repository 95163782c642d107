import { Alert, Button, Group, NativeSelect, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useMayManage } from "../../api/session.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { auditor } from "../../text/auditor.ts";
import { people } from "../../text/people.ts";
import { strings } from "../../text/strings.ts";
import { dayOf, periodOfDays } from "../../text/days.ts";

const text = auditor.make;
const DAY_S = 86_400;
const LIFETIMES = {
  day: DAY_S,
  week: 7 * DAY_S,
  fortnight: 14 * DAY_S,
  month: 30 * DAY_S,
  quarter: 90 * DAY_S,
};
type Lifetime = keyof typeof LIFETIMES;

export function MakeLink({ orgId, onMade }: { orgId: string; onMade: (url: string) => void }) {
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <ReasonedButton disabledReason={mayManage ? null : people.onlyManagers} onClick={open}>
        {text.action}
      </ReasonedButton>
      <Dialog opened={opened} onClose={close} title={text.title}>
        <LinkForm
          orgId={orgId}
          onClose={close}
          onMade={(url) => {
            close();
            onMade(url);
          }}
        />
      </Dialog>
    </>
  );
}

interface LinkFormProps {
  orgId: string;
  onClose: () => void;
  onMade: (url: string) => void;
}

function LinkForm({ orgId, onClose, onMade }: LinkFormProps) {
  const [name, setName] = useState("");
  const [first, setFirst] = useState(() => dayOf(new Date(Date.now() - 90 * DAY_S * 1000)));
  const [last, setLast] = useState(() => dayOf(new Date()));
  const [lifetime, setLifetime] = useState<Lifetime>("fortnight");
  const client = useQueryClient();
  const period = periodOfDays(first, last);
  const make = useMutation({
    mutationFn: async (asked: { from: string; to: string }) => {
      const body = { name: name.trim(), ...asked, expires_in_s: LIFETIMES[lifetime] };
      return (await api.call("post", "/api/orgs/{orgID}/auditor-links", { path: { orgID: orgId }, body }))
        .body;
    },
    onSuccess: async ({ url }) => {
      onMade(url);
      await client.invalidateQueries({ queryKey: ["auditor-links", orgId] });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (period !== null) make.mutate(period);
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={text.name}
          placeholder={text.namePlaceholder}
          required
          maxLength={100}
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Group grow>
          <TextInput
            type="date"
            label={text.from}
            required
            value={first}
            onChange={(event) => setFirst(event.currentTarget.value)}
          />
          <TextInput
            type="date"
            label={text.to}
            required
            value={last}
            onChange={(event) => setLast(event.currentTarget.value)}
          />
        </Group>
        <Text size="sm" c="dimmed">
          {text.zone}
        </Text>
        {period === null && (
          <Alert color="red" variant="light" role="alert">
            {text.backwards}
          </Alert>
        )}
        <NativeSelect
          label={text.lives}
          data={(Object.keys(LIFETIMES) as Lifetime[]).map((value) => ({
            value,
            label: text.lifetimes[value],
          }))}
          value={lifetime}
          onChange={({ currentTarget }) => setLifetime(currentTarget.value as Lifetime)}
        />
        {make.isError && <FailurePanel error={make.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {strings.dialog.cancel}
          </Button>
          <Button type="submit" loading={make.isPending}>
            {text.send}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
