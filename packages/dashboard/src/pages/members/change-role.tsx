import { NativeSelect, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { meQuery, useMe, useOrgId } from "../../api/session.ts";
import { ConfirmDialog } from "../../parts/actions/confirm-dialog.tsx";
import { Hint } from "../../parts/marks/hint.tsx";
import { members as text } from "../../text/members.ts";
import { givenBy, type Member, reasonAgainst } from "./member-rules.ts";

type OrgRole = keyof typeof text.roles;

/** A member's role; changing it asks for confirmation. */
export function ChangeRole({ member, all }: { member: Member; all: readonly Member[] }) {
  const orgId = useOrgId();
  const me = useMe().user;
  const [chosen, setChosen] = useState<OrgRole | null>(null);
  const client = useQueryClient();
  const who = member.name ?? member.email;
  const change = useMutation({
    mutationFn: (role: OrgRole) =>
      api.call("patch", "/api/orgs/{orgID}/users/{userID}", {
        path: { orgID: orgId, userID: member.id },
        body: { role },
      }),
    onSuccess: async () => {
      setChosen(null);
      await client.invalidateQueries({ queryKey: ["members", orgId] });
      if (member.id === me.id) await client.invalidateQueries(meQuery);
    },
  });
  if (member.role === "operator") return null;
  const reason = reasonAgainst(me.role, member, all);
  if (reason !== null)
    return (
      <Hint label={reason}>
        <Text span size="sm" tabIndex={0} aria-description={reason}>
          {text.roles[member.role]}
        </Text>
      </Hint>
    );
  return (
    <>
      <NativeSelect
        aria-label={text.roleOf(who)}
        size="xs"
        w={130}
        data={givenBy(me.role).map((role) => ({ value: role, label: text.roles[role] }))}
        value={member.role}
        onChange={({ currentTarget }) => {
          change.reset();
          if (currentTarget.value !== member.role) setChosen(currentTarget.value as OrgRole);
        }}
      />
      <ConfirmDialog
        opened={chosen !== null}
        title={text.change.title(who)}
        action={text.change.confirm(who, chosen === null ? "" : text.roles[chosen].toLowerCase())}
        destructive={false}
        pending={change.isPending}
        error={change.error}
        onConfirm={() => chosen !== null && change.mutate(chosen)}
        onClose={() => setChosen(null)}
      >
        {chosen !== null && (
          <Stack gap="xs">
            <Text size="sm">
              {text.change.text(who, text.roles[member.role].toLowerCase(), text.roles[chosen].toLowerCase())}
            </Text>
            <Text size="sm">
              {text.roles[chosen]}: {text.rolesExplained[chosen]}.
            </Text>
            {member.id === me.id && <Text size="sm">{text.change.own}</Text>}
          </Stack>
        )}
      </ConfirmDialog>
    </>
  );
}
