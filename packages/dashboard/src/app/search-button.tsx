import { UnstyledButton } from "@mantine/core";
import { Icon } from "../parts/marks/icon.tsx";
import { palette as text } from "../text/palette.ts";
import classes from "./header.module.css";

const KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘ K" : "Ctrl K";

/** Opens the search over everything; on a phone, only its icon. */
export function SearchButton({ onClick }: { onClick: () => void }) {
  return (
    <UnstyledButton
      className={classes["search"] ?? ""}
      aria-label={text.open}
      aria-keyshortcuts="Control+K Meta+K"
      onClick={onClick}
    >
      <Icon name="search" size={16} />
      <span className={classes["searchWords"] ?? ""} data-keys={KEYS}>
        {text.open}
      </span>
    </UnstyledButton>
  );
}
