import { Button, Divider } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { knowsPasskeys, signWithPasskey } from "../../api/passkeys.ts";
import { readSessionAnew } from "../../api/session.ts";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { passkeys } from "../../text/passkeys.ts";

interface PasskeyButtonProps {
  attempt: string;
  onSignedIn: () => Promise<void>;
}

/**
 * Signs in with a passkey, without asking for an address. Hidden if the browser does not support
 * passkeys.
 */
export function PasskeyButton({ attempt, onSignedIn }: PasskeyButtonProps) {
  const client = useQueryClient();
  const signIn = useMutation({
    mutationFn: async () => {
      const { body: asked } = await api.call("post", "/api/auth/passkey/options", { body: { attempt } });
      const credential = await signWithPasskey(asked);
      return api.call("post", "/api/auth/passkey/verify", { body: { attempt, credential } });
    },
    onSuccess: async () => {
      await readSessionAnew(client);
      await onSignedIn();
    },
  });
  if (!knowsPasskeys()) return null;
  return (
    <>
      <Button loading={signIn.isPending} onClick={() => signIn.mutate()}>
        {passkeys.signIn.action}
      </Button>
      {signIn.isError && <FailurePanel error={signIn.error} />}
      <Divider label={passkeys.signIn.or} />
    </>
  );
}
