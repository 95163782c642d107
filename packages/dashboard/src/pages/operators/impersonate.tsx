import type { Schemas } from "@attestore/contract/client";
import { Button, Group, Stack, Text } from "@mantine/core";
import { Dialog } from "../../parts/actions/dialog.tsx";
import { TextArea } from "../../parts/actions/text-area.tsx";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { meQuery } from "../../api/session.ts";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { operators } from "../../text/operators.ts";
import { strings } from "../../text/strings.ts";

const text = operators.impersonate;

/** Acts as a customer's member, for a reason that goes into their log. */
export function Impersonate({ person }: { person: Schemas["UserRecord"] }) {
  const [opened, { open, close }] = useDisclosure(false);
  const [reason, setReason] = useState("");
  const client = useQueryClient();
  const navigate = useNavigate();
  const who = person.name ?? person.email;
  const start = useMutation({
    mutationFn: () =>
      api.call("post", "/api/auth/impersonate", { body: { user_id: person.id, reason: reason.trim() } }),
    onSuccess: async () => {
      // Data fetched as the operator is not what the customer sees.
      client.clear();
      await client.fetchQuery(meQuery);
      await navigate({ to: "/" });
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    start.mutate();
  };
  return (
    <>
      <Button size="xs" variant="default" aria-label={text.of(who)} onClick={open}>
        {text.action}
      </Button>
      <Dialog opened={opened} onClose={close} title={text.title(who)}>
        <form onSubmit={submit}>
          <Stack>
            <Text size="sm">{text.explanation}</Text>
            <TextArea
              label={text.reason}
              description={text.reasonHint}
              required
              maxLength={500}
              rows={2}
              data-autofocus
              value={reason}
              onChange={(event) => setReason(event.currentTarget.value.replaceAll("\n", " "))}
            />
            {start.isError && <FailurePanel error={start.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                {strings.dialog.cancel}
              </Button>
              <Button type="submit" color="red.9" loading={start.isPending}>
                {text.start(who)}
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </>
  );
}
