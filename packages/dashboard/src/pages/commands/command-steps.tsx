import { Text, VisuallyHidden } from "@mantine/core";
import { Age } from "../../parts/marks/age.tsx";
import { sourceText } from "../../text/sources.ts";
import { endOf, stepsDone } from "./command-state.ts";
import type { Command, CommandEnd } from "./command-state.ts";
import classes from "./command-steps.module.css";
import { commandText } from "../../text/commands.ts";

const STEPS = ["queued", "delivered", "acked", "ended"] as const;

/** A command's steps: queued, delivered, accepted by the agent, done. */
export function CommandSteps({ command }: { command: Command }) {
  const done = stepsDone(command);
  const end = endOf(command);
  const times = [command.created_at, command.delivered_at, command.acked_at, null];
  return (
    <ol className={classes["steps"]} aria-label={commandText.steps}>
      {STEPS.map((step, index) => {
        const at = times[index] ?? null;
        // A withdrawn command may never have been delivered.
        const isDone = step === "ended" ? end !== null : index < done && (end === null || at !== null);
        const isCurrent = end === null && index === done;
        return (
          <li
            key={step}
            className={classes["step"]}
            data-state={isDone ? "done" : isCurrent ? "current" : "ahead"}
            aria-current={isCurrent ? "step" : undefined}
          >
            <Text size="sm" fw={isCurrent ? 600 : 400} component="span">
              {step === "ended" && end !== null ? endWord(command, end) : sourceText.trigger.steps[step]}
            </Text>
            <VisuallyHidden>
              {isDone ? commandText.done : isCurrent ? commandText.current : commandText.ahead}
            </VisuallyHidden>
            {at !== null && isDone && (
              <Text size="xs" c="dimmed" component="span">
                <Age at={at} />
              </Text>
            )}
          </li>
        );
      })}
    </ol>
  );
}

function endWord({ outcome }: Command, end: NonNullable<CommandEnd>): string {
  return outcome.result === undefined ? commandText.ends[end] : commandText.found[outcome.result];
}
