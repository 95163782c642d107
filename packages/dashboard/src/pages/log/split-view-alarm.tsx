import { Button, Group, Stack, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useOrgId } from "../../api/session.ts";
import { CommandText } from "../../parts/facts/command-text.tsx";
import { ConfirmDialog } from "../../parts/actions/confirm-dialog.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { logText } from "../../text/log.ts";
import { visible } from "../../text/visible.ts";
import { browserStorage } from "../../verification/browser-storage.ts";
import { type SplitView, forgetLog } from "../../verifier/held-head.ts";
import classes from "./split-view-alarm.module.css";
import { logWatchQuery } from "./watch-log.ts";

const text = logText.alarm;

/** The alarm for a log that contradicts itself, with the evidence. */
export function SplitViewAlarm({ origin, splitView }: { origin: string; splitView: SplitView }) {
  const { reason, detail, raised_at, kept, offered } = splitView;
  return (
    <Stack gap="sm" data-alarm={reason}>
      <div role="alert" className={classes["alarm"]}>
        <Stack gap="sm">
          <Text fw={700} size="lg">
            {text.title}
          </Text>
          <Text fw={600}>{text.reason[reason]}</Text>
          <Text>{visible(detail, 2000)}</Text>
          <Text>{text.means}</Text>
          <Text>
            {text.seen}: <Moment at={raised_at} />
          </Text>
        </Stack>
      </div>
      <Section title={text.evidence}>
        {kept !== null && <Head title={text.kept} checkpoint={kept.checkpoint} />}
        <Head title={text.offered} checkpoint={offered.checkpoint} />
        <Group>
          <Button onClick={() => downloadJson("log-split-view.json", splitView)}>{text.download}</Button>
          <ForgetButton origin={origin} />
        </Group>
      </Section>
    </Stack>
  );
}

function Head({ title, checkpoint }: { title: string; checkpoint: string }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <CommandText label={title} text={checkpoint} />
    </div>
  );
}

/** Forgets the log. Only a person may do this, after reading what is lost. */
export function ForgetButton({ origin }: { origin: string }) {
  const client = useQueryClient();
  const orgId = useOrgId();
  const [isOpen, { open, close }] = useDisclosure(false);
  const forget = (): void => {
    forgetLog(browserStorage(), orgId);
    close();
    void client.resetQueries(logWatchQuery(orgId));
  };
  return (
    <>
      <Button variant="default" onClick={open}>
        {text.forget}
      </Button>
      <ConfirmDialog
        opened={isOpen}
        title={text.forgetTitle}
        action={text.forgetAction}
        pending={false}
        error={null}
        onConfirm={forget}
        onClose={close}
      >
        {text.forgetWhat(origin)}
      </ConfirmDialog>
    </>
  );
}

function downloadJson(name: string, content: unknown): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
