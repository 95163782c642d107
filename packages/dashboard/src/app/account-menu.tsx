import { type MantineColorScheme, Menu, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMe } from "../api/session.ts";
import { Icon } from "../parts/marks/icon.tsx";
import { StillSignedIn, useSignOut } from "../parts/actions/sign-out.tsx";
import { passkeys } from "../text/passkeys.ts";
import { strings } from "../text/strings.ts";
import classes from "./header.module.css";

const text = strings.account;
const SCHEMES: readonly MantineColorScheme[] = ["auto", "light", "dark"];

/** Who is signed in, how the page looks, and the way out. */
export function AccountMenu() {
  const { user, impersonated_by } = useMe();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = useSignOut();
  const name = user.email === "" ? (user.name ?? "") : user.email;
  const hasAccount = user.role !== "reader" && impersonated_by === null;
  return (
    <>
      <Menu
        withinPortal={false}
        withInitialFocusPlaceholder={false}
        position="bottom-end"
        shadow="md"
        width={260}
      >
        <Menu.Target>
          <UnstyledButton className={classes["avatar"] ?? ""} aria-label={text.menu(name)}>
            <span aria-hidden="true">{name.slice(0, 1).toUpperCase()}</span>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown aria-label={text.label}>
          <Menu.Label style={{ overflowWrap: "anywhere" }}>{name}</Menu.Label>
          {hasAccount && (
            <Menu.Item
              leftSection={<Icon name="passkeys" size={16} />}
              renderRoot={(props) => <Link to="/passkeys" {...props} />}
            >
              {passkeys.title}
            </Menu.Item>
          )}
          <Menu.Divider />
          <Menu.RadioGroup
            value={colorScheme}
            onChange={(value) => setColorScheme(SCHEMES.find((scheme) => scheme === value) ?? "auto")}
          >
            {SCHEMES.map((scheme) => (
              <Menu.RadioItem key={scheme} value={scheme}>
                {text.schemes[scheme]}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Divider />
          <Menu.Item
            closeMenuOnClick={false}
            disabled={signOut.isPending || signOut.isSuccess}
            onClick={() => signOut.mutate()}
          >
            {strings.shell.signOut}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <StillSignedIn signOut={signOut} />
    </>
  );
}
