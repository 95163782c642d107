import { CallRefused } from "@attestore/contract/client";
import { Button } from "@mantine/core";
import { useMutation, type UseMutationResult } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { Dialog } from "./dialog.tsx";
import { FailurePanel } from "../feedback/failure-panel.tsx";
import { strings } from "../../text/strings.ts";

type SignOut = UseMutationResult<void, Error, void>;

/**
 * Ends the session and reloads as the sign-in page: nothing shown stays in memory, and no open
 * query or stream calls the service again. Whoever uses it shows `StillSignedIn` too.
 */
export function useSignOut(): SignOut {
  return useMutation({
    mutationFn: async () => {
      try {
        await api.call("post", "/api/auth/logout");
      } catch (error) {
        // The session had already ended.
        if (!(error instanceof CallRefused && error.status === 401)) throw error;
      }
    },
    onSuccess: () => window.location.assign("/login"),
  });
}

/** Says that signing out failed. */
export function StillSignedIn({ signOut }: { signOut: SignOut }) {
  return (
    <Dialog opened={signOut.isError} onClose={() => signOut.reset()} title={strings.shell.stillSignedIn}>
      <FailurePanel error={signOut.error} onRetry={() => signOut.mutate()} />
    </Dialog>
  );
}

export function SignOutButton() {
  const signOut = useSignOut();
  return (
    <>
      <Button
        variant="default"
        size="xs"
        // Until the new page has loaded.
        loading={signOut.isPending || signOut.isSuccess}
        onClick={() => signOut.mutate()}
      >
        {strings.shell.signOut}
      </Button>
      <StillSignedIn signOut={signOut} />
    </>
  );
}
