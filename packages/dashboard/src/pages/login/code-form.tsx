import { Button, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { FailurePanel } from "../../parts/failure-panel.tsx";
import { meQuery } from "../../api/session.ts";
import { strings } from "../../text/strings.ts";

interface CodeFormProps {
  /** Where the code went. */
  sent: string;
  action: string;
  /** Exchanges the code for a session, which the browser then has as a cookie. */
  verify: (code: string) => Promise<unknown>;
  onSignedIn: () => Promise<void>;
  onStartOver: () => void;
}

/** The code that was mailed, typed in. */
export function CodeForm({ sent, action, verify, onSignedIn, onStartOver }: CodeFormProps) {
  const [code, setCode] = useState("");
  const client = useQueryClient();
  const signIn = useMutation({
    mutationFn: () => verify(code),
    onSuccess: async () => {
      await client.invalidateQueries(meQuery);
      await onSignedIn();
    },
  });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    signIn.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text role="status">{sent}</Text>
        <TextInput
          label={strings.login.code}
          description={strings.login.codeHint}
          autoComplete="one-time-code"
          autoFocus
          required
          maxLength={16}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          styles={{
            input: { fontFamily: "var(--mantine-font-family-monospace)", textTransform: "uppercase" },
          }}
        />
        {signIn.isError && <FailurePanel error={signIn.error} />}
        <Button type="submit" loading={signIn.isPending}>
          {action}
        </Button>
        <Button variant="subtle" onClick={onStartOver}>
          {strings.login.startOver}
        </Button>
      </Stack>
    </form>
  );
}
