import { parseLogName } from "@attestore/proof";
import { Text } from "@mantine/core";
import { useOrgId } from "../../api/session.ts";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { logText } from "../../text/log.ts";
import type { LogWatch } from "./watch-log.ts";

const text = logText.tools;

/** The log as files, for monitors. */
export function ToolsSection({ keys }: { keys: LogWatch["keys"] }) {
  const { generation } = parseLogName(keys.log_id);
  const log = `${window.location.origin}/log/${useOrgId()}${generation === 1 ? "" : `/${generation}`}`;
  const token = keys.public_log ? "" : ` -H "Authorization: Bearer $ATTESTORE_TOKEN"`;
  const commands = [
    `curl --fail${token} ${log}/checkpoint`,
    `curl --fail${token} ${log}/tile/0/000.p/1 | xxd -p`,
  ].join("\n");
  return (
    <Section title={text.title}>
      <Text size="sm">{text.explanation}</Text>
      <CommandText label={text.commands} text={commands} />
    </Section>
  );
}
