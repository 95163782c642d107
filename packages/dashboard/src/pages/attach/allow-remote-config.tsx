import { Checkbox } from "@mantine/core";
import { attach } from "../../text/attach.ts";

const text = attach.allow;

/** Off unless somebody ticks it: it is for whoever runs the command on the host to allow. */
export function AllowRemoteConfig({
  checked,
  onChange,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <Checkbox
      label={text.label}
      description={text.hint}
      checked={checked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}

/** The command that attaches a host, which may be in parentheses, with the option at its end. */
export function allowing(command: string): string {
  const [, whole = command, end = ""] = /^([^]*?)(\)?)$/.exec(command) ?? [];
  return `${whole} --allow-remote-config${end}`;
}
