import type { Basis } from "@attestore/verifier/pack";
import { Code, Stack, Text } from "@mantine/core";
import { FactList } from "../parts/facts/fact-list.tsx";
import { packs } from "../text/verify-packs.ts";
import { visible } from "../text/visible.ts";

const text = packs.basis;

/** Whose keys, whose clock and whose word a pack's verdict depends on. */
export function PackBasis({ basis }: { basis: Basis }) {
  const { agent_keys, log_key, clock, witnesses, events } = basis;
  return (
    <Stack gap={4}>
      <Text fw={600}>{text.title}</Text>
      <FactList
        facts={[
          [
            text.agentKeys,
            agent_keys.length === 0
              ? text.none
              : agent_keys.map(({ fingerprint, agent_id, from, receipts }) => (
                  <div key={`${agent_id} ${fingerprint}`}>
                    <Code>{visible(fingerprint, 100)}</Code>{" "}
                    {text.key(visible(agent_id ?? "", 100), text.from[from], receipts)}
                  </div>
                )),
          ],
          [
            text.logKey,
            <>
              <Code>{visible(log_key.verifier_key ?? "", 300)}</Code> {text.logFrom[log_key.from]}
            </>,
          ],
          [
            text.clock,
            `${text.service}${clock.witnessed_by === null ? "" : text.witnessed(clock.witnessed_by)}`,
          ],
          [
            text.witnesses,
            witnesses.length === 0
              ? text.none
              : witnesses.map(({ name, at }) => `${visible(name, 200)} (${at})`).join(", "),
          ],
          ...(events === undefined
            ? []
            : [
                [
                  text.events,
                  <>
                    {text.eventCounts(events.signed, events.service)}
                    {events.unsigned.map(({ agent_id, count }) => (
                      <div key={agent_id}>{text.unsigned(count, visible(agent_id, 100))}</div>
                    ))}
                  </>,
                ] as const,
              ]),
        ]}
      />
    </Stack>
  );
}
