import { Alert, Button, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { signupQuery, useHasNoMail } from "../../api/signup.ts";
import { strings } from "../../text/strings.ts";
import { CodeForm } from "./code-form.tsx";
import { SignInFrame } from "./sign-in-frame.tsx";
import { newAttempt } from "./new-attempt.ts";

export function SignupPage() {
  const [email, setEmail] = useState("");
  const [attempt] = useState(newAttempt);
  const [organisation, setOrganisation] = useState("");
  const navigate = useNavigate();
  const send = useMutation({
    mutationFn: () =>
      api.call("post", "/api/auth/signup", { body: { email, org_name: organisation, attempt } }),
  });
  const state = useQuery(signupQuery);
  const isPrinted = useHasNoMail();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    send.mutate();
  };
  return (
    <SignInFrame title={strings.signup.title}>
      {state.data?.open === false ? (
        <Stack>
          <Alert title={strings.signup.closedTitle}>{strings.signup.closed}</Alert>
          <Text size="sm">
            {strings.signup.haveAccount} <Link to="/login">{strings.signup.login}</Link>
          </Text>
        </Stack>
      ) : send.isSuccess ? (
        <CodeForm
          sent={isPrinted ? strings.signup.printed(email) : strings.signup.sent(email)}
          isPrinted={isPrinted}
          action={strings.signup.verify}
          verify={(code) => api.call("post", "/api/auth/signup/verify", { body: { email, code, attempt } })}
          onSignedIn={() => navigate({ to: "/" })}
          onStartOver={() => send.reset()}
        />
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <Text size="sm" c="dimmed">
              {strings.signup.explanation}
            </Text>
            <TextInput
              label={strings.login.email}
              type="email"
              autoComplete="email"
              required
              autoFocus
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <TextInput
              label={strings.signup.organisation}
              autoComplete="organization"
              required
              maxLength={100}
              value={organisation}
              onChange={(event) => setOrganisation(event.currentTarget.value)}
            />
            {send.isError && <FailurePanel error={send.error} />}
            <Button type="submit" loading={send.isPending}>
              {strings.login.sendCode}
            </Button>
            <Text size="sm">
              {strings.signup.haveAccount} <Link to="/login">{strings.signup.login}</Link>
            </Text>
          </Stack>
        </form>
      )}
    </SignInFrame>
  );
}
