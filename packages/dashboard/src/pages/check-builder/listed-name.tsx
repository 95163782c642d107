import { TextInput } from "@mantine/core";
import { useId, useState } from "react";
import { checkBuilder as text } from "../../text/check-builder.ts";

const SHOWN = 100;

interface ListedNameProps {
  label: string;
  names: readonly string[];
  /** Null as long as what is typed is none of them. */
  onChoose: (name: string | null) => void;
}

/**
 * One of these names, which the browser completes while it is typed. Only so many are given to it
 * at once: a database may have tens of thousands.
 */
export function ListedName({ label, names, onChoose }: ListedNameProps) {
  const [typed, setTyped] = useState("");
  const list = useId();
  const fitting = names.filter((name) => name.toLowerCase().includes(typed.toLowerCase()));
  return (
    <>
      <TextInput
        label={label}
        list={list}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        error={fitting.length === 0 ? text.none : null}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          onChoose(names.includes(value) ? value : null);
        }}
      />
      <datalist id={list}>
        {fitting.slice(0, SHOWN).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  );
}
