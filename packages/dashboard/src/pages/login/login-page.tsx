import { Button, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useHasNoMail } from "../../api/signup.ts";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { strings } from "../../text/strings.ts";
import { verify } from "../../text/verify.ts";
import { CodeForm } from "./code-form.tsx";
import { SignInFrame } from "./sign-in-frame.tsx";
import { newAttempt } from "./new-attempt.ts";
import { PasskeyButton } from "./passkey-button.tsx";

const route = getRouteApi("/login");

export function LoginPage() {
  const [email, setEmail] = useState("");
  const [attempt] = useState(newAttempt);
  const { next } = route.useSearch();
  const router = useRouter();
  // Asked for now, so that the next form is right from the start.
  const isPrinted = useHasNoMail();
  const send = useMutation({
    mutationFn: () => api.call("post", "/api/auth/login", { body: { email, attempt } }),
  });
  const onSignedIn = () => router.navigate({ href: next ?? "/" });
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    send.mutate();
  };
  return (
    <SignInFrame title={strings.login.title}>
      {send.isSuccess ? (
        <CodeForm
          sent={isPrinted ? strings.login.printed(email) : strings.login.sent(email)}
          isPrinted={isPrinted}
          action={strings.login.verify}
          verify={(code, recovery_code) =>
            api.call("post", "/api/auth/verify", {
              body: { email, code, attempt, ...(recovery_code === undefined ? {} : { recovery_code }) },
            })
          }
          onSignedIn={onSignedIn}
          onStartOver={() => send.reset()}
        />
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <PasskeyButton attempt={attempt} onSignedIn={onSignedIn} />
            <Text size="sm" c="dimmed">
              {strings.login.explanation}
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
            {send.isError && <FailurePanel error={send.error} />}
            <Button type="submit" variant="default" loading={send.isPending}>
              {strings.login.sendCode}
            </Button>
            <Text size="sm">
              {strings.login.noAccount} <Link to="/signup">{strings.login.signup}</Link>
            </Text>
            <Text size="sm">
              {verify.noAccountNeeded} <a href="/verify">{verify.title}</a>
            </Text>
          </Stack>
        </form>
      )}
    </SignInFrame>
  );
}
