import { Button, List, Paper, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../../api/client.ts";
import { useOrgId } from "../../../api/session.ts";
import { ConfirmDialog } from "../../../parts/actions/confirm-dialog.tsx";
import { sourceSettingsText } from "../../../text/source-settings.ts";
import { overviewQuery } from "../../../api/overview.ts";
import type { SourceDetail } from "../queries.ts";

const text = sourceSettingsText.remove;

/** Removes a source, after listing what is removed and what stays. */
export function RemoveSection({ source }: { source: SourceDetail }) {
  const [opened, { open, close }] = useDisclosure(false);
  const orgID = useOrgId();
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: () =>
      api.call("delete", "/api/orgs/{orgID}/sources/{sourceID}", { path: { orgID, sourceID: source.id } }),
    onSuccess: async () => {
      // Drop it from the cached lists too, until they are refetched.
      for (const days of [30, 90] as const)
        client.setQueryData(overviewQuery(orgID, days).queryKey, (overview) =>
          overview === undefined
            ? undefined
            : { ...overview, sources: overview.sources.filter(({ id }) => id !== source.id) },
        );
      await navigate({ to: "/sources" });
      client.removeQueries({ queryKey: ["orgs", orgID, "sources", source.id] });
      void client.invalidateQueries({ queryKey: ["overview", orgID] });
      await client.invalidateQueries({ queryKey: ["orgs", orgID] });
    },
  });
  return (
    <Paper withBorder p="md" component="section" aria-label={text.heading}>
      <Stack gap="sm" align="flex-start">
        <Text fw={600} component="h3" size="lg">
          {text.heading}
        </Text>
        <Button size="xs" variant="default" onClick={open}>
          {text.open}
        </Button>
      </Stack>
      <ConfirmDialog
        opened={opened}
        title={text.title(source.name)}
        action={text.action(source.name)}
        pending={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate()}
        onClose={close}
      >
        <Stack gap="xs">
          <Named heading={text.goes} items={text.goesList(source.slug)} />
          <Named heading={text.stays} items={text.staysList} />
          <Text size="sm">{text.comesBack(source.slug)}</Text>
        </Stack>
      </ConfirmDialog>
    </Paper>
  );
}

function Named({ heading, items }: { heading: string; items: readonly string[] }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {heading}
      </Text>
      <List size="sm">
        {items.map((item) => (
          <List.Item key={item}>{item}</List.Item>
        ))}
      </List>
    </div>
  );
}
