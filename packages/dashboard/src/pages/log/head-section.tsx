import { openLogCheckpoint, parseVerifierKey, ProofError } from "@attestore/proof";
import { Code, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { CopyButton } from "../../parts/facts/copy-button.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { formatMoment } from "../../text/format.ts";
import { logText } from "../../text/log.ts";
import { visible } from "../../text/visible.ts";
import type { LogWatch } from "./watch-log.ts";

const text = logText.head;

/** The newest signed head, and the key that it is signed with. */
export function HeadSection({ watch: { head, keys } }: { watch: LogWatch }) {
  return (
    <Section title={text.title}>
      <FactList
        facts={[
          [text.size, head.tree_size.toLocaleString("en-GB")],
          [text.root, <Code>{head.root_hash}</Code>],
          [text.at, <Moment at={head.timestamp} />],
          [text.time, <HeadTime head={head} keys={keys} />],
          [text.name, <Code>{keys.log_id}</Code>],
          [
            text.key,
            <>
              <Group gap="xs">
                <Code>{keys.verifier_key}</Code>
                <CopyButton text={keys.verifier_key} />
              </Group>
              <Text size="sm" c="dimmed">
                {text.keyHint}
              </Text>
            </>,
          ],
          [text.access, keys.public_log ? text.public : text.private],
        ]}
      />
      <Text size="sm" fw={600}>
        {text.checkpoint}
      </Text>
      <CommandText label={text.checkpoint} text={head.checkpoint} />
    </Section>
  );
}

/** When the service's second key cosigned this head; verified here. */
function HeadTime({ head, keys }: Pick<LogWatch, "head" | "keys">) {
  const { data } = useQuery({
    queryKey: ["head-time", head.checkpoint, keys.verifier_key, keys.time_verifier_key],
    queryFn: () => timeOf(head.checkpoint, keys),
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
  });
  return <>{data ?? text.timeNone}</>;
}

async function timeOf(checkpoint: string, keys: LogWatch["keys"]): Promise<string> {
  try {
    const time = parseVerifierKey(keys.time_verifier_key);
    const { cosignatures } = await openLogCheckpoint(checkpoint, parseVerifierKey(keys.verifier_key), [time]);
    const at = cosignatures.find(({ verifier }) => verifier === time)?.timestamp_s;
    return at === undefined ? text.timeNone : text.timeSeen(time.name, formatMoment(new Date(at * 1000)));
  } catch (error) {
    if (error instanceof ProofError) return visible(error.message);
    throw error;
  }
}
