import { formatVerifierKey, sshFingerprint } from "@attestore/proof";
import { Button, Group, Stack, Text } from "@mantine/core";
import { StatusMark } from "../../parts/marks/status-mark.tsx";
import { verify } from "../../text/verify.ts";
import { visible } from "../../text/visible.ts";
import type { TakenFile } from "../../verification/take-file.ts";

/** The accepted files, and what each was recognised as. */
export function FileList({
  files,
  named,
  onRemove,
}: {
  files: readonly TakenFile[];
  /** Digests of the ciphertexts that the receipts are about. */
  named: ReadonlySet<string>;
  onRemove: (id: number) => void;
}) {
  return (
    <Stack gap="xs" component="ul" p={0} m={0} aria-label={verify.files} style={{ listStyle: "none" }}>
      {files.map(({ id, name, content }) => {
        // Otherwise it would look as if it had been compared.
        const isStranger = content.kind === "ciphertext" && named.size > 0 && !named.has(content.sha256);
        const shown = isStranger ? verify.kind.strangeCiphertext(content.sha256) : what(content);
        const isRefused = content.kind === "refused" || content.kind === "malformed_receipt" || isStranger;
        return (
          <Group key={id} component="li" justify="space-between" wrap="nowrap" gap="sm">
            <Group gap="xs" wrap="nowrap" align="flex-start">
              {/* Accepting a file does not mean that it is true. */}
              <StatusMark status={isRefused ? "failed" : "none"} label="" />
              <Text size="sm" style={{ overflowWrap: "anywhere" }}>
                <strong>{visible(name, 100)}</strong>: {visible(shown, 600)}
              </Text>
            </Group>
            <Button
              size="compact-xs"
              variant="default"
              style={{ flex: "none" }}
              aria-label={verify.remove(name)}
              onClick={() => onRemove(id)}
            >
              {verify.removeShort}
            </Button>
          </Group>
        );
      })}
    </Stack>
  );
}

function what(content: TakenFile["content"]): string {
  const { kind } = verify;
  switch (content.kind) {
    case "receipt":
      return "bundle" in content.receipt ? kind.bundle : kind.envelope;
    case "malformed_receipt":
      return `${kind.malformed}: ${content.message}`;
    case "agent_key":
      return kind.agent_key(sshFingerprint(content.key));
    case "log_key":
      return kind.log_key(formatVerifierKey(content.key));
    case "witness_key":
      return kind.witness_key(formatVerifierKey(content.key));
    case "ciphertext":
      return kind.ciphertext(content.sha256);
    case "key_list":
      return kind.key_list(content.list.keys.length);
    case "pack":
      return kind.pack;
    case "refused":
      return content.reason;
  }
}
