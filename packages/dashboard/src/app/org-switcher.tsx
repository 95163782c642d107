import { Menu, Text, UnstyledButton } from "@mantine/core";
import { useMyOrgs, useSwitchOrg } from "../api/memberships.ts";
import { useMe } from "../api/session.ts";
import { Icon } from "../parts/marks/icon.tsx";
import { memberships as text } from "../text/memberships.ts";
import { strings } from "../text/strings.ts";
import classes from "./header.module.css";

/** The organisation's name; members of several organisations can switch here. */
export function OrgSwitcher() {
  const { org } = useMe();
  const { data: orgs } = useMyOrgs();
  const change = useSwitchOrg();
  const name = org?.name ?? strings.shell.service;
  if (org === null || orgs === undefined || orgs.length < 2)
    return (
      <Text fw={600} truncate>
        {name}
      </Text>
    );
  return (
    // In the header's landmark, for people who navigate by landmarks.
    <Menu withinPortal={false} withInitialFocusPlaceholder={false} position="bottom-start" shadow="md">
      <Menu.Target>
        <UnstyledButton
          className={classes["switch"] ?? ""}
          aria-label={text.current(name)}
          disabled={change.isPending}
        >
          <Text fw={600} truncate component="span">
            {name}
          </Text>
          <Icon name="down" size={16} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown aria-label={text.choose}>
        <Menu.RadioGroup
          value={org.id}
          onChange={(id) => {
            if (id !== org.id) change.mutate(id);
          }}
        >
          {orgs.map(({ id, name: other }) => (
            <Menu.RadioItem key={id} value={id} closeMenuOnClick>
              {other}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}
