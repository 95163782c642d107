import { Menu, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Icon } from "../../parts/marks/icon.tsx";
import { home, type Source } from "../../text/home.ts";
import { sourceText } from "../../text/sources.ts";
import { useQuickTrigger } from "../sources/commands/use-quick-trigger.ts";
import classes from "./source-table.module.css";

/**
 * What can be done with a source. A page has many rows, so the menu itself exists only once its
 * button was pressed.
 */
export function RowMenu({ source }: { source: Source }) {
  const [isUsed, setUsed] = useState(false);
  const button = {
    className: classes["menu"] ?? "",
    "aria-label": home.sources.menu(source.name),
    "aria-haspopup": "menu" as const,
    children: <Icon name="dots" />,
  };
  return isUsed ? (
    <Opened source={source} button={button} />
  ) : (
    <button type="button" onClick={() => setUsed(true)} {...button} />
  );
}

function Opened({ source, button }: { source: Source; button: { className: string } }) {
  return (
    <Menu
      withinPortal={false}
      withInitialFocusPlaceholder={false}
      position="bottom-end"
      shadow="md"
      defaultOpened
    >
      <Menu.Target>
        <UnstyledButton {...button} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          renderRoot={(props) => <Link to="/sources/$sourceId" params={{ sourceId: source.id }} {...props} />}
        >
          {home.worst.open}
        </Menu.Item>
        <Trigger source={source} kind="backup" />
        <Trigger source={source} kind="restore_test" />
        <Menu.Item
          renderRoot={(props) => (
            <Link
              to="/sources/$sourceId"
              params={{ sourceId: source.id }}
              search={{ tab: "settings" }}
              {...props}
            />
          )}
        >
          {sourceText.page.tabs.settings}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Trigger({ source, kind }: { source: Source; kind: "backup" | "restore_test" }) {
  const trigger = useQuickTrigger(source, kind);
  return (
    <Menu.Item
      disabled={trigger.reason !== null || trigger.isPending}
      title={trigger.reason ?? undefined}
      aria-description={trigger.reason ?? undefined}
      onClick={trigger.start}
    >
      {sourceText.trigger[kind]}
    </Menu.Item>
  );
}
