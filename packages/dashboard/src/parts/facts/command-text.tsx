import { Code } from "@mantine/core";
import classes from "./command-text.module.css";
import { CopyButton } from "./copy-button.tsx";

/** Commands to copy and run elsewhere. */
export function CommandText({ text, label }: { text: string; label: string }) {
  return (
    <div className={classes["command"]}>
      <Code block tabIndex={0} aria-label={label} className={classes["text"] ?? ""}>
        {text}
      </Code>
      <CopyButton text={text} />
    </div>
  );
}
