import { Button, Group, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { createPasskey, knowsPasskeys } from "../../api/passkeys.ts";
import { Section } from "../../parts/layout/section.tsx";
import { passkeys } from "../../text/passkeys.ts";
import { ChangeFailure } from "./change-failure.tsx";

const text = passkeys.add;

/** Has the browser create a passkey, and adds it. The first one comes with recovery codes. */
export function AddPasskey({ onAdded }: { onAdded: (codes: readonly string[] | null) => Promise<void> }) {
  const [name, setName] = useState("");
  const add = useMutation({
    mutationFn: async () => {
      const { body: asked } = await api.call("post", "/api/auth/passkeys/options");
      const credential = await createPasskey(asked);
      return api.call("post", "/api/auth/passkeys", { body: { name: name.trim(), credential } });
    },
    onSuccess: async ({ body }) => {
      setName("");
      await onAdded(body.recovery_codes);
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    add.mutate();
  };
  if (!knowsPasskeys())
    return (
      <Section title={text.title}>
        <Text size="sm">{passkeys.failure.unsupported}</Text>
      </Section>
    );
  return (
    <Section title={text.title}>
      <Text size="sm">{text.explanation}</Text>
      <form onSubmit={submit}>
        <Group align="flex-end">
          <TextInput
            label={text.name}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            required
            maxLength={60}
          />
          <Button type="submit" loading={add.isPending}>
            {text.action}
          </Button>
        </Group>
      </form>
      {add.isSuccess && (
        <Text size="sm" role="status">
          {text.added(add.data.body.passkey.name)}
        </Text>
      )}
      {add.isError && <ChangeFailure error={add.error} />}
    </Section>
  );
}
