import { SimpleGrid, TextInput } from "@mantine/core";
import { TextArea } from "../parts/actions/text-area.tsx";
import { verify } from "../text/verify.ts";
import type { KeyTexts, ReadTexts } from "./key-texts.ts";

const text = verify.keys;
const monospace = {
  input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: "var(--mantine-font-size-xs)" },
};

interface KeyFieldsProps {
  texts: KeyTexts;
  errors: ReadTexts["errors"];
  onChange: (texts: KeyTexts) => void;
}

/** Fields for keys and the ciphertext's digest, which the reader got elsewhere. */
export function KeyFields({ texts, errors, onChange }: KeyFieldsProps) {
  const field = (name: keyof KeyTexts) => ({
    value: texts[name],
    error: errors[name],
    onChange: (event: { currentTarget: { value: string } }) =>
      onChange({ ...texts, [name]: event.currentTarget.value }),
    autoComplete: "off",
    spellCheck: false,
    styles: monospace,
    maxLength: 20_000,
  });
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <TextArea label={text.agent} description={text.agentHint} rows={3} {...field("agent")} />
      <TextArea label={text.log} description={text.logHint} rows={3} {...field("log")} />
      <TextArea label={text.witnesses} description={text.witnessesHint} rows={2} {...field("witnesses")} />
      <TextInput label={text.ciphertext} description={text.ciphertextHint} {...field("ciphertext")} />
    </SimpleGrid>
  );
}
