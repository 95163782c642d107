import { NativeSelect, Text } from "@mantine/core";
import { useMyOrgs, useSwitchOrg } from "../api/memberships.ts";
import { useMe } from "../api/session.ts";
import { memberships as text } from "../text/memberships.ts";
import { strings } from "../text/strings.ts";

/** The organisation's name; members of several organisations can switch here. */
export function OrgName() {
  const { org } = useMe();
  const { data: orgs } = useMyOrgs();
  const change = useSwitchOrg();
  if (org === null || orgs === undefined || orgs.length < 2)
    return (
      <Text fw={600} truncate>
        {org?.name ?? strings.shell.service}
      </Text>
    );
  return (
    <NativeSelect
      aria-label={text.choose}
      size="xs"
      disabled={change.isPending}
      data={orgs.map(({ id, name }) => ({ value: id, label: name }))}
      value={org.id}
      onChange={({ currentTarget }) => change.mutate(currentTarget.value)}
    />
  );
}
