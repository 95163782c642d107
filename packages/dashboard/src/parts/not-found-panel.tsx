import { Stack, Text, Title } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { strings } from "../text/strings.ts";

export function NotFoundPanel() {
  return (
    <Stack p="md">
      <Title order={1}>{strings.notFound.title}</Title>
      <Text>{strings.notFound.explanation}</Text>
      <Link to="/">{strings.notFound.home}</Link>
    </Stack>
  );
}
