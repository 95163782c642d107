import { CallRefused } from "@attestore/contract/client";
import { Button, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { readSessionAnew } from "../../api/session.ts";
import { passkeys } from "../../text/passkeys.ts";
import { strings } from "../../text/strings.ts";

interface CodeFormProps {
  /** Says where the code went. */
  sent: string;
  /** The service has no mail server, so its console has the code. */
  isPrinted: boolean;
  action: string;
  /**
   * Exchanges the code for a session cookie. People with a passkey must also enter a recovery code.
   */
  verify: (code: string, recoveryCode?: string) => Promise<unknown>;
  onSignedIn: () => Promise<void>;
  onStartOver: () => void;
}

/** The form for the code that was mailed or printed. */
export function CodeForm({ sent, isPrinted, action, verify, onSignedIn, onStartOver }: CodeFormProps) {
  const [code, setCode] = useState("");
  const [recoveryCode, setRecoveryCode] = useState<string | null>(null);
  const client = useQueryClient();
  const signIn = useMutation({
    mutationFn: () => verify(code, recoveryCode ?? undefined),
    onSuccess: async () => {
      await readSessionAnew(client);
      await onSignedIn();
    },
    onError: (error) => {
      if (isAsked(error)) setRecoveryCode("");
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
        {isPrinted && (
          <Text size="sm" c="dimmed">
            {strings.login.console}
          </Text>
        )}
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
        {recoveryCode !== null && (
          <TextInput
            label={passkeys.signIn.recoveryCode}
            description={passkeys.signIn.recoveryHint}
            autoComplete="off"
            autoFocus
            required
            maxLength={64}
            value={recoveryCode}
            onChange={(event) => setRecoveryCode(event.currentTarget.value)}
            styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          />
        )}
        {signIn.isError && !isAsked(signIn.error) && <FailurePanel error={signIn.error} />}
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

function isAsked(error: unknown): boolean {
  return error instanceof CallRefused && error.code === "recovery_code_required";
}
