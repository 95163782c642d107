import type { Schemas } from "@attestore/contract/client";
import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { quotasQuery } from "../../api/quotas.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { quotas } from "../../text/quotas.ts";
import { strings } from "../../text/strings.ts";
import { changeOf, QUOTA_NAMES, readLimit, typedLimit } from "./quota-limits.ts";

const text = quotas.change;
type Quotas = Schemas["QuotasRecord"];

/** Sets an organisation's quotas in place of the service's defaults. */
export function ChangeQuotas({ name, current }: { name: string; current: Quotas }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Group>
        <Button variant="default" onClick={open}>
          {text.action}
        </Button>
      </Group>
      <Dialog opened={opened} onClose={close} title={text.title(name)}>
        <QuotaForm current={current} onDone={close} />
      </Dialog>
    </>
  );
}

function QuotaForm({ current, onDone }: { current: Quotas; onDone: () => void }) {
  const [before] = useState({
    bytes: typedLimit(current.bytes),
    objects: typedLimit(current.objects),
    agents: typedLimit(current.agents),
    requests: typedLimit(current.requests),
  });
  const [typed, setTyped] = useState(before);
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: (body: Schemas["ChangeQuotasRequest"]) =>
      api.call("patch", "/api/orgs/{orgID}/quotas", { path: { orgID: current.org_id }, body }),
    onSuccess: (answer) => {
      client.setQueryData(quotasQuery(current.org_id).queryKey, answer.body);
      onDone();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const change = changeOf(before, typed);
    if (change === null) return;
    if (Object.keys(change).length === 0) onDone();
    else save.mutate(change);
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">{text.explanation}</Text>
        {QUOTA_NAMES.map((name) => {
          const own = current[name].default;
          return (
            <TextInput
              key={name}
              label={text.labels[name]}
              description={text.default(own === null ? quotas.noLimit : quotas.amount(name, own))}
              inputMode="numeric"
              value={typed[name]}
              error={readLimit(typed[name]) === undefined && text.invalid}
              onChange={(event) => setTyped({ ...typed, [name]: event.currentTarget.value })}
            />
          );
        })}
        {save.isError && <FailurePanel error={save.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            {strings.dialog.cancel}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {text.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
