import { Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { strings } from "../../text/strings.ts";

export function NotFoundPanel() {
  return (
    <Stack>
      <Title order={1} size="h2">
        {strings.notFound.title}
      </Title>
      <Text>{strings.notFound.explanation}</Text>
      <Link to="/">{strings.notFound.home}</Link>
    </Stack>
  );
}
