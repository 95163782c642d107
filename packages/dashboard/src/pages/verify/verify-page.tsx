import { Alert, Anchor, Box, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useEffect, useMemo, useState } from "react";
import { Section } from "../../parts/layout/section.tsx";
import { verify as text } from "../../text/verify.ts";
import { packs as packText } from "../../text/verify-packs.ts";
import { chooseCiphertext, namedCiphertext } from "../../verification/choose-ciphertext.ts";
import { KeyFields } from "../../verification/key-fields.tsx";
import { NO_TEXTS, readTexts } from "../../verification/key-texts.ts";
import { MalformedResult } from "../../verification/receipt-result.tsx";
import { type TakenFile, takeFile } from "../../verification/take-file.ts";
import { DropZone } from "./drop-zone.tsx";
import { FileList } from "./file-list.tsx";
import { PackVerdicts } from "./pack-verdicts.tsx";
import { KEYS_PLACE, ReceiptVerdict } from "./receipt-verdict.tsx";

const MAX_FILES = 100;

/**
 * Verifies files without the service, for anybody who was sent a receipt, signed in or not, online
 * or offline. Its own Content-Security-Policy makes the browser send nothing, so other pages must
 * be loaded in full and not through the router.
 */
export function VerifyPage() {
  const [files, setFiles] = useState<readonly TakenFile[]>([]);
  const [tooMany, setTooMany] = useState(false);
  const [texts, setTexts] = useState(NO_TEXTS);
  const { keys, ciphertextSha256, errors } = useMemo(() => readTexts(texts), [texts]);
  const trusted = useMemo(
    () => ({
      agents: [
        ...(keys.agent === null ? [] : [keys.agent.key]),
        ...of(files, "agent_key").map(({ key }) => key),
      ],
      logs: [...(keys.log === null ? [] : [keys.log.key]), ...of(files, "log_key").map(({ key }) => key)],
      witnesses: [...keys.witnesses.map(({ key }) => key), ...of(files, "witness_key").map(({ key }) => key)],
    }),
    [keys, files],
  );
  const packs = useMemo(
    () =>
      files.flatMap(({ name, content }) => (content.kind === "pack" ? [{ name, file: content.file }] : [])),
    [files],
  );
  const lists = useMemo(() => of(files, "key_list").map(({ list }) => list), [files]);
  const givenToPacks = useMemo(
    () => ({
      agents: [
        ...(keys.agent === null ? [] : [{ name: text.keys.agent, key: keys.agent.key }]),
        ...files.flatMap(({ name, content }) =>
          content.kind === "agent_key" ? [{ name, key: content.key }] : [],
        ),
      ],
      list: lists[0] ?? null,
      logs: trusted.logs,
      witnesses: trusted.witnesses,
    }),
    [keys, files, lists, trusted],
  );
  // With an invalid field, a verdict would not cover what the reader asked, so show none.
  const hasErrors = Object.keys(errors).length > 0;
  const named = useMemo(
    () => new Set(of(files, "receipt").flatMap(({ receipt }) => namedCiphertext(receipt) ?? [])),
    [files],
  );
  const ciphertexts = {
    pasted: ciphertextSha256,
    files: of(files, "ciphertext").map(({ sha256 }) => sha256),
    named,
  };
  useEffect(() => {
    document.title = `${text.title} · Attestore`;
    // A file dropped outside the zone would replace the page.
    const stay = (event: DragEvent): void => event.preventDefault();
    window.addEventListener("dragover", stay);
    window.addEventListener("drop", stay);
    return () => {
      window.removeEventListener("dragover", stay);
      window.removeEventListener("drop", stay);
    };
  }, []);
  const take = async (chosen: readonly File[]): Promise<void> => {
    const room = Math.max(0, MAX_FILES - files.length);
    setTooMany(chosen.length > room);
    const taken = await Promise.all(chosen.slice(0, room).map(takeFile));
    setFiles((before) => [...before, ...taken]);
  };
  const startOver = (): void => {
    setFiles([]);
    setTexts(NO_TEXTS);
    setTooMany(false);
  };
  const isReceipt = ({ content }: TakenFile): boolean =>
    content.kind === "receipt" || content.kind === "malformed_receipt";
  return (
    <Box component="main" maw={1140} mx="auto" px="md" py="lg">
      <Stack gap="lg">
        <Group justify="space-between" align="flex-start" gap="xs">
          <Group gap="sm" wrap="nowrap" align="flex-start">
            <img src="/icon.svg" alt="Attestore" width={32} height={32} />
            <div>
              <Title order={1} size="h2">
                {text.title}
              </Title>
              <Text c="dimmed">{text.lead}</Text>
            </div>
          </Group>
          <Anchor href="/">{text.home}</Anchor>
        </Group>
        <Text size="sm">{text.offline}</Text>
        <DropZone onFiles={(chosen) => void take(chosen)} />
        {tooMany && <Alert color="orange" variant="light" title={text.tooMany(MAX_FILES)} />}
        {files.length > 0 && (
          <Section title={text.files}>
            <FileList
              files={files}
              named={named}
              onRemove={(id) => setFiles((before) => before.filter((file) => file.id !== id))}
            />
            <Group>
              <Button variant="default" size="xs" onClick={startOver}>
                {text.startOver}
              </Button>
            </Group>
            {!files.some(isReceipt) && packs.length === 0 && <Text>{text.noReceipt}</Text>}
          </Section>
        )}
        {hasErrors && (files.some(isReceipt) || packs.length > 0) && (
          <Alert role="alert" color="orange" variant="light" title={text.keys.correctFirst} />
        )}
        {packs.length > 0 && (files.some(isReceipt) || lists.length > 1) && (
          <Alert
            role="alert"
            color="orange"
            variant="light"
            title={files.some(isReceipt) ? packText.notBoth : packText.twoLists}
          />
        )}
        {packs.length > 0 && !hasErrors && !files.some(isReceipt) && lists.length < 2 && (
          <PackVerdicts packs={packs} given={givenToPacks} />
        )}
        {files.map(({ id, name, content }) => {
          if (content.kind === "malformed_receipt")
            return <MalformedResult key={id} title={name} message={content.message} />;
          if (content.kind !== "receipt" || hasErrors) return null;
          return (
            <ReceiptVerdict
              key={id}
              name={name}
              receipt={content.receipt}
              trusted={trusted}
              ciphertextSha256={chooseCiphertext(content.receipt, ciphertexts)}
            />
          );
        })}
        <div id={KEYS_PLACE}>
          <Section title={text.keys.title}>
            <Text size="sm">{text.keys.explanation}</Text>
            <KeyFields texts={texts} errors={errors} onChange={setTexts} />
          </Section>
        </div>
        <Text size="sm" c="dimmed">
          {text.trust}
        </Text>
      </Stack>
    </Box>
  );
}

type Kind = TakenFile["content"]["kind"];

function of<Wanted extends Kind>(
  files: readonly TakenFile[],
  kind: Wanted,
): Extract<TakenFile["content"], { kind: Wanted }>[] {
  return files
    .map(({ content }) => content)
    .filter((content): content is Extract<TakenFile["content"], { kind: Wanted }> => content.kind === kind);
}
