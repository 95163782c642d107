import { Alert, Button, Stack, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { meQuery } from "../../api/session.ts";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { auditor } from "../../text/auditor.ts";
import { SignInFrame } from "../login/sign-in-frame.tsx";
import { takeSecret } from "./take-secret.ts";

const text = auditor.shared;

/**
 * The target of an auditor link. Opening needs a button press, so that a mail preview does not open
 * the link, and nobody is signed out of their own account without being asked.
 */
export function SharedPage() {
  const [secret] = useState(takeSecret);
  const { data: me } = useQuery(meQuery);
  const client = useQueryClient();
  const navigate = useNavigate();
  const open = useMutation({
    mutationFn: () => api.call("post", "/api/auditor-links/open", { body: { secret } }),
    onSuccess: async () => {
      client.clear();
      await client.fetchQuery(meQuery);
      await navigate({ to: "/" });
    },
  });
  return (
    <SignInFrame title={text.title}>
      {secret === "" ? (
        <Stack>
          <Alert color="orange" variant="light" role="alert">
            {text.none}
          </Alert>
          <Link to="/login">{text.home}</Link>
        </Stack>
      ) : (
        <Stack>
          <Text size="sm">{text.explanation}</Text>
          {me !== undefined && me !== null && me.user.email !== "" && (
            <Alert color="orange" variant="light">
              {text.replaces(me.user.email)}
            </Alert>
          )}
          {open.isError && <FailurePanel error={open.error} />}
          <Button loading={open.isPending} onClick={() => open.mutate()}>
            {text.open}
          </Button>
        </Stack>
      )}
    </SignInFrame>
  );
}
