import { Switch } from "@mantine/core";
import { palette as text } from "../../text/palette.ts";
import { Dialog } from "../../parts/actions/dialog.tsx";
import classes from "./shortcut-help.module.css";

interface ShortcutHelpProps {
  onClose: () => void;
  /** Whether keys without Ctrl or ⌘ do something. */
  isOn: boolean;
  onSwitch: (isOn: boolean) => void;
}

/** What each key does, and the way to turn single keys off (WCAG 2.2, 2.1.4). */
export function ShortcutHelp({ onClose, isOn, onSwitch }: ShortcutHelpProps) {
  return (
    <Dialog opened onClose={onClose} title={text.keys.title}>
      <dl className={classes["keys"]}>
        {text.keys.list.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <Switch
        mt="md"
        label={text.keys.single}
        checked={isOn}
        onChange={({ currentTarget }) => onSwitch(currentTarget.checked)}
      />
    </Dialog>
  );
}
