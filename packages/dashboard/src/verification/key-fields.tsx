import { SimpleGrid, Textarea, TextInput } from "@mantine/core";
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
      <Textarea label={text.agent} description={text.agentHint} autosize minRows={3} {...field("agent")} />
      <Textarea label={text.log} description={text.logHint} autosize minRows={3} {...field("log")} />
      <Textarea
        label={text.witnesses}
        description={text.witnessesHint}
        autosize
        minRows={2}
        {...field("witnesses")}
      />
      <TextInput label={text.ciphertext} description={text.ciphertextHint} {...field("ciphertext")} />
    </SimpleGrid>
  );
}
