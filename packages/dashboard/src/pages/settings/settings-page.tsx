import { Code, Group } from "@mantine/core";
import { SignOutButton } from "../../parts/actions/sign-out.tsx";
import { useMe } from "../../api/session.ts";
import { FactList } from "../../parts/facts/fact-list.tsx";
import { Moment } from "../../parts/marks/moment.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { Section } from "../../parts/layout/section.tsx";
import { settings as text } from "../../text/settings.ts";
import { LogVisibility } from "./log-visibility.tsx";
import { OwnMemberships } from "./own-memberships.tsx";
import { QuotaSection } from "./quota-section.tsx";
import { RenameOrg } from "./rename-org.tsx";

export function SettingsPage() {
  const { org, user } = useMe();
  return (
    <Page title={text.title} lead={text.lead}>
      {org !== null && (
        <>
          <RenameOrg org={org} />
          <LogVisibility org={org} />
          <QuotaSection orgId={org.id} />
          <Section title={text.facts.title}>
            <FactList
              facts={[
                [text.facts.id, <Code key="id">{org.id}</Code>],
                [text.facts.slug, <Code key="slug">{org.slug}</Code>],
                [text.facts.created, <Moment key="since" at={org.created_at} />],
              ]}
            />
          </Section>
          <OwnMemberships org={org} />
        </>
      )}
      <Section title={text.session.title}>
        <FactList
          facts={[
            [text.session.email, user.email],
            [text.session.role, user.role],
          ]}
        />
        <Group>
          <SignOutButton />
        </Group>
      </Section>
    </Page>
  );
}
