import { Button } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../api/client.ts";
import { strings } from "../text/strings.ts";

export function SignOutButton() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const signOut = useMutation({
    mutationFn: () => api.call("post", "/api/auth/logout"),
    onSettled: async () => {
      client.clear();
      await navigate({ to: "/login" });
    },
  });
  return (
    <Button variant="default" size="xs" loading={signOut.isPending} onClick={() => signOut.mutate()}>
      {strings.shell.signOut}
    </Button>
  );
}
