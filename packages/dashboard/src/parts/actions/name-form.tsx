import { Button, Group, Stack, TextInput } from "@mantine/core";
import type { ReactNode, SubmitEvent } from "react";
import { useState } from "react";
import { nameForm as text } from "../../text/add-source.ts";
import { AskFailure } from "../feedback/ask-failure.tsx";
import { WaitingLine } from "../feedback/waiting-line.tsx";

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

interface NameFormProps {
  label: string;
  proposal: string;
  /** What else is asked. */
  children?: ReactNode;
  action: string;
  request: { isPending: boolean; error: unknown };
  onName: (name: string) => void;
}

/** Gives what an agent tried its name in config.yaml. */
export function NameForm({ label, proposal, children, action, request, onName }: NameFormProps) {
  const [name, setName] = useState(proposal);
  const isName = NAME.test(name);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (isName && !request.isPending) onName(name);
  };
  return (
    <form onSubmit={submit}>
      <Stack maw={420}>
        <TextInput
          label={label}
          description={text.hint}
          required
          maxLength={63}
          autoComplete="off"
          spellCheck={false}
          value={name}
          error={name === "" || isName ? null : text.wrong}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        {children}
        <Group>
          <Button type="submit" loading={request.isPending}>
            {action}
          </Button>
        </Group>
        {request.isPending && <WaitingLine>{text.adding}</WaitingLine>}
        {request.error !== null && <AskFailure error={request.error} />}
      </Stack>
    </form>
  );
}

/** What of these words may be in such a name, joined by hyphens. */
export function nameFrom(...words: readonly string[]): string {
  return words
    .map((word) =>
      word
        .toLowerCase()
        .replaceAll(/[^a-z0-9_]+/g, "-")
        .replaceAll(/^[-_]+|[-_]+$/g, ""),
    )
    .filter((word) => word !== "")
    .join("-")
    .slice(0, 63);
}
