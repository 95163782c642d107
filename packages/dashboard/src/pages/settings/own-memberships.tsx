import type { Schemas } from "@attestore/contract/client";
import { Button, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useMyInvitations, useMyOrgs } from "../../api/memberships.ts";
import { useMe } from "../../api/session.ts";
import { ConfirmDialog } from "../../parts/actions/confirm-dialog.tsx";
import { FailurePanel } from "../../parts/feedback/failure-panel.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { memberships as text } from "../../text/memberships.ts";

/** The signed-in person's organisations and invitations, and the button to leave this one. */
export function OwnMemberships({ org }: { org: Schemas["OrgRecord"] }) {
  const { data: orgs } = useMyOrgs();
  const { data: invitations } = useMyInvitations();
  const { user, impersonated_by } = useMe();
  if (impersonated_by !== null || user.role === "reader") return null;
  return (
    <Section title={text.title}>
      {orgs !== undefined && <Text size="sm">{orgs.length < 2 ? text.only : text.several(orgs.length)}</Text>}
      {invitations?.map((invitation) => (
        <Invited key={invitation.id} invitation={invitation} />
      ))}
      <Leave org={org} />
    </Section>
  );
}

function Invited({
  invitation: { id, org_name, role, expires_at },
}: {
  invitation: Schemas["InvitationRecord"];
}) {
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: ["orgs"] });
  const accept = useMutation({
    mutationFn: () => api.call("post", "/api/auth/invitations/{userID}/accept", { path: { userID: id } }),
    onSettled,
  });
  const decline = useMutation({
    mutationFn: () => api.call("post", "/api/auth/invitations/{userID}/decline", { path: { userID: id } }),
    onSettled,
  });
  return (
    <>
      <Group>
        <Text size="sm">
          {text.invited(org_name, role)} {text.until} <Moment at={expires_at} />
        </Text>
        <Button
          size="xs"
          aria-label={text.acceptOf(org_name)}
          loading={accept.isPending}
          onClick={() => accept.mutate()}
        >
          {text.accept}
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={text.declineOf(org_name)}
          loading={decline.isPending}
          onClick={() => decline.mutate()}
        >
          {text.decline}
        </Button>
      </Group>
      {accept.isError && <FailurePanel error={accept.error} />}
      {decline.isError && <FailurePanel error={decline.error} />}
    </>
  );
}

function Leave({ org }: { org: Schemas["OrgRecord"] }) {
  const [opened, { open, close }] = useDisclosure(false);
  const client = useQueryClient();
  const navigate = useNavigate();
  const leave = useMutation({
    mutationFn: () => api.call("post", "/api/orgs/{orgID}/leave", { path: { orgID: org.id } }),
    onSuccess: async () => {
      client.clear();
      await navigate({ to: "/login" });
    },
  });
  return (
    <Group>
      <Button variant="default" onClick={open}>
        {text.leave.action}
      </Button>
      <ConfirmDialog
        opened={opened}
        title={text.leave.title(org.name)}
        action={text.leave.confirm(org.name)}
        pending={leave.isPending}
        error={leave.error}
        onConfirm={() => leave.mutate()}
        onClose={close}
      >
        <Text size="sm">{text.leave.text}</Text>
      </ConfirmDialog>
    </Group>
  );
}
