import { Anchor, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMe, useOrgId } from "../../api/session.ts";
import { QueryResult } from "../../parts/feedback/query-result.tsx";
import { Page } from "../../parts/layout/page.tsx";
import { sourceText } from "../../text/sources.ts";
import { CommandsUnderWay } from "./commands/commands-under-way.tsx";
import { DriftTab } from "./drift/drift-tab.tsx";
import { labelWords } from "./labels.ts";
import { type SourceDetail, sourceQuery } from "./queries.ts";
import { RestoreTestsTab } from "./restore-tests/restore-tests-tab.tsx";
import { TABS } from "./search-params.ts";
import { SettingsTab } from "./settings/settings-tab.tsx";
import { StatusCard } from "./status-card.tsx";
import { TimelineTab } from "./timeline/timeline-tab.tsx";
import { TriggerButtons } from "./commands/trigger-buttons.tsx";
import { useFollowedCommands } from "./commands/use-followed-commands.ts";
import { engineName } from "../../text/engines.ts";

const route = getRouteApi("/signed-in/sources/$sourceId");

export function SourcePage() {
  const { sourceId } = route.useParams();
  const source = useQuery(sourceQuery(useOrgId(), sourceId));
  return (
    <QueryResult query={source} isPage>
      {(data) => <SourceFrame key={data.id} source={data} />}
    </QueryResult>
  );
}

/**
 * An auditor link gives access to the records of a period, which include neither commands nor
 * drift.
 */
const READERS_TABS = ["tests", "settings"] as const satisfies readonly (typeof TABS)[number][];

const TAB_CONTENT = {
  timeline: TimelineTab,
  tests: RestoreTestsTab,
  drift: DriftTab,
  settings: SettingsTab,
} as const;

function SourceFrame({ source }: { source: SourceDetail }) {
  const isReader = useMe().user.role === "reader";
  const tabs = isReader ? READERS_TABS : TABS;
  const { tab: asked } = route.useSearch();
  const tab = tabs.find((known) => known === asked) ?? tabs[0];
  const navigate = route.useNavigate();
  const commands = useFollowedCommands(source);
  const open = (value: string | null): void => {
    const next = tabs.find((known) => known === value) ?? tabs[0];
    void navigate({ search: (before) => ({ ...before, tab: next }), replace: true, resetScroll: false });
  };
  return (
    <Page
      title={source.name}
      lead={
        <>
          {source.slug !== source.name && `${source.slug} · `}
          {engineName(source.engine)} · {labelWords(source) !== "" && `${labelWords(source)} · `}
          <Anchor inherit underline="always" renderRoot={(props) => <Link to="/sources" {...props} />}>
            {sourceText.page.backLink}
          </Anchor>
        </>
      }
      actions={isReader ? undefined : <TriggerButtons source={source} commands={commands} />}
    >
      <StatusCard source={source} />
      <CommandsUnderWay commands={commands} />
      <Tabs value={tab} onChange={open} keepMounted={false}>
        <Tabs.List aria-label={sourceText.page.sections} mb="md">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name} px={{ base: 8, sm: "md" }}>
              {sourceText.page.tabs[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {tabs.map((name) => {
          const Content = TAB_CONTENT[name];
          return (
            <Tabs.Panel key={name} value={name}>
              <Content source={source} />
            </Tabs.Panel>
          );
        })}
      </Tabs>
    </Page>
  );
}
