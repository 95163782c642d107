import { Center, Paper, Stack, Title } from "@mantine/core";
import type { ReactNode } from "react";

/** The frame of the pages before sign-in. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w="100%" maw={420}>
        <Stack>
          <img src="/icon.svg" alt="Attestore" width={40} height={40} />
          <Title order={1} size="h2">
            {title}
          </Title>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}
