import type { Schemas } from "@attestore/contract/client";
import { Code, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMayManage } from "../../api/session.ts";
import { ConfirmDialog } from "../../parts/actions/confirm-dialog.tsx";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { ReasonedButton } from "../../parts/actions/reasoned-button.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { people } from "../../text/people.ts";
import { settings } from "../../text/settings.ts";
import { useChangeOrg } from "./use-change-org.ts";

const text = settings.log;

/**
 * Makes the log public or private. Asks first, because copies that others made cannot be taken
 * back.
 */
export function LogVisibility({ org }: { org: Schemas["OrgRecord"] }) {
  const mayManage = useMayManage();
  const [opened, { open, close }] = useDisclosure(false);
  const change = useChangeOrg(org.id, close);
  const action = org.public_log ? text.hide : text.show;
  return (
    <Section title={text.title}>
      <Text size="sm">{text.explanation}</Text>
      <FactList
        facts={[
          [text.label, org.public_log ? "yes" : "no"],
          [text.address, <Code key="address">{`${window.location.origin}/log/${org.id}/`}</Code>],
        ]}
      />
      <Group>
        <ReasonedButton
          variant="default"
          disabledReason={mayManage ? null : people.onlyManagers}
          onClick={open}
        >
          {action}
        </ReasonedButton>
      </Group>
      <ConfirmDialog
        opened={opened}
        title={org.public_log ? text.hideTitle : text.showTitle}
        action={action}
        destructive={!org.public_log}
        pending={change.isPending}
        error={change.error}
        onConfirm={() => change.mutate({ public_log: !org.public_log })}
        onClose={close}
      >
        <Text size="sm">{org.public_log ? text.hideText : text.showText}</Text>
      </ConfirmDialog>
    </Section>
  );
}
