import { formatVerifierKey, sshFingerprint } from "@attestore/proof";
import { Code, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { FactList } from "../parts/facts/fact-list.tsx";
import { verify } from "../text/verify.ts";
import type { Keys } from "../verifier/verify-in-browser.ts";

const text = verify.source;

/** The keys behind a verdict, and where each came from. */
export function KeySources({ keys }: { keys: Keys }) {
  const { agent, log, witnesses } = keys;
  return (
    <Stack gap={4}>
      <Text fw={600}>{text.title}</Text>
      <FactList
        facts={[
          [
            text.agent,
            agent === null ? (
              text.none
            ) : (
              <Sourced key_={sshFingerprint(agent.key)} from={verify.origin[agent.origin]} />
            ),
          ],
          [
            text.log,
            log === null ? (
              text.none
            ) : (
              <Sourced key_={formatVerifierKey(log.key)} from={verify.logOrigin[log.origin]} />
            ),
          ],
          ...(witnesses.length === 0
            ? []
            : [
                [
                  text.witnesses,
                  witnesses.map(({ key, origin }) => (
                    <div key={key.name}>
                      {key.name}: {origin === "given" ? verify.origin.given : text.servedShort}
                    </div>
                  )),
                ] as const,
              ]),
        ]}
      />
    </Stack>
  );
}

function Sourced({ key_, from }: { key_: string; from: ReactNode }) {
  return (
    <>
      <Code>{key_}</Code>
      <Text size="sm" c="dimmed">
        {from}
      </Text>
    </>
  );
}
