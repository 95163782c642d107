import { Title } from "@mantine/core";
import { strings } from "../../text/strings.ts";

export function HomePage() {
  return <Title order={1}>{strings.navigation.home}</Title>;
}
