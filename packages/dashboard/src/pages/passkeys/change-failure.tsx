import { CallRefused } from "@attestore/contract/client";
import { Alert, Button, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { passkeys as text } from "../../text/passkeys.ts";

/** Why a change was refused. If the sign-in is too long ago, a link to sign in again and return. */
export function ChangeFailure({ error }: { error: unknown }) {
  if (!(error instanceof CallRefused) || error.code !== "sign_in_again")
    return <FailurePanel error={error} />;
  return (
    <Alert color="orange" variant="light" role="alert" title={text.again.title}>
      <Stack align="flex-start" gap="xs">
        <Text size="sm">{error.message}</Text>
        <SignInAgain />
      </Stack>
    </Alert>
  );
}

function SignInAgain() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const leave = useMutation({
    mutationFn: () => api.call("post", "/api/auth/logout"),
    onSettled: async () => {
      client.clear();
      await navigate({ to: "/login", search: { next: "/passkeys" } });
    },
  });
  return (
    <Button size="xs" variant="default" loading={leave.isPending} onClick={() => leave.mutate()}>
      {text.again.action}
    </Button>
  );
}
