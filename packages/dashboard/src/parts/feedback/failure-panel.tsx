import { CallFailed, CallRefused } from "@attestore/contract/client";
import { Alert, Button, Code, Stack, Text, Title } from "@mantine/core";
import { NoAnswer } from "../../api/client.ts";
import { NoPasskey } from "../../api/passkeys.ts";
import { NoOrganisation } from "../../api/session.ts";
import { passkeys } from "../../text/passkeys.ts";
import { strings } from "../../text/strings.ts";

interface FailureProps {
  error: unknown;
  onRetry?: () => void;
  /** It replaces a whole page, so its title is the page's heading. */
  isPage?: boolean;
}

/** Says what went wrong and what to do, in place of a page or a part of it. */
export function FailurePanel({ error, onRetry, isPage = false }: FailureProps) {
  const title = titleOf(error);
  return (
    <Alert
      color="red"
      variant="light"
      role="alert"
      title={
        isPage ? (
          <Title order={1} size="h5">
            {title}
          </Title>
        ) : (
          title
        )
      }
    >
      <Stack align="flex-start" gap="xs">
        <Text size="sm">{messageOf(error)}</Text>
        {error instanceof CallRefused && <Code>{strings.failure.requestId(error.requestId)}</Code>}
        {onRetry !== undefined && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {strings.failure.retry}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

function titleOf(error: unknown): string {
  if (error instanceof CallRefused && error.code === "sign_in_again") return passkeys.again.title;
  return error instanceof NoOrganisation || (error instanceof CallRefused && error.status === 403)
    ? strings.failure.forbiddenTitle
    : strings.failure.title;
}

/** The message for the user: the service's own if it answered. */
export function messageOf(error: unknown): string {
  if (error instanceof CallRefused) return error.message;
  if (error instanceof NoOrganisation) return strings.failure.noOrganisation;
  if (error instanceof NoPasskey) return error.isThere ? passkeys.failure.there : passkeys.failure.none;
  if (error instanceof NoAnswer) return strings.failure.offline;
  if (error instanceof CallFailed) return strings.failure.noService(error.status);
  return strings.failure.defect;
}
